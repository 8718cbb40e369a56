const { copyFileSync, mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const {
  AndroidConfig,
  withAndroidManifest,
  withAppBuildGradle,
  withDangerousMod,
  withEntitlementsPlist,
  withInfoPlist,
  withMainApplication,
  withPodfile,
  withXcodeProject,
} = require('expo/config-plugins');

const extensionName = 'NotificationService';
const swiftFiles = ['NotificationService.swift', 'OpenPush.swift', 'SeenMessages.swift'];
const kotlinFiles = [
  'OpenPush.kt',
  'PushKeyStore.kt',
  'PushKeyStoreModule.kt',
  'PushMessagingService.kt',
  'SeenMessages.kt',
];

const pod = `
target '${extensionName}' do
  pod 'Sodium', '~> 0.9'
end
`;
const gradle = `
dependencies {
    implementation 'com.goterl:lazysodium-android:5.1.0@aar'
    implementation 'net.java.dev.jna:jna:5.17.0@aar'
    implementation 'com.google.firebase:firebase-messaging:24.1.0'
}
`;
const reactPackage = 'add(com.example.push.PushKeyStorePackage())';

/**
 * Expo config plugin: ["./with-waxwing-push.cjs", { "sources": "./native", "developmentTeam": "ABCDE12345" }] in
 * `plugins` of app.json. `sources` is the folder with `ios/*.swift` and `android/*.kt` of this example; their Kotlin
 * package is `com.example.push`. After `expo prebuild`, the app has the extension, the service, and their shared groups.
 */
module.exports = function withWaxwingPush(config, { sources = './native', developmentTeam } = {}) {
  const bundleId = config.ios?.bundleIdentifier;
  if (bundleId === undefined)
    throw new Error('with-waxwing-push: set ios.bundleIdentifier in app.json first.');
  const shared = {
    bundleId,
    appGroup: `group.${bundleId}`,
    keychainGroup: `$(AppIdentifierPrefix)${bundleId}.push`,
  };
  const changes = [
    withSharedEntitlements,
    withExtensionFiles,
    withExtensionTarget,
    withKotlinFiles,
    withMessagingService,
    withLibraries,
    withKeyStoreModule,
  ];
  return changes.reduce(
    (changed, change) => change(changed, { ...shared, sources, developmentTeam }),
    config,
  );
};

function including(list, item) {
  return [...new Set([...(list ?? []), item])];
}

function entitlementsFor(entitlements, { appGroup, keychainGroup }) {
  const groups = 'com.apple.security.application-groups';
  return {
    ...entitlements,
    [groups]: including(entitlements[groups], appGroup),
    'keychain-access-groups': including(entitlements['keychain-access-groups'], keychainGroup),
  };
}

/** The app's part: it can write the data that the extension reads, and pushes without an alert wake it. */
function withSharedEntitlements(config, shared) {
  const entitled = withEntitlementsPlist(config, (mod) => {
    mod.modResults = entitlementsFor({ 'aps-environment': 'development', ...mod.modResults }, shared);
    return mod;
  });
  return withInfoPlist(entitled, (mod) => {
    mod.modResults.UIBackgroundModes = including(mod.modResults.UIBackgroundModes, 'remote-notification');
    return mod;
  });
}

function withExtensionFiles(config, shared) {
  return withDangerousMod(config, [
    'ios',
    (mod) => {
      const folder = join(mod.modRequest.platformProjectRoot, extensionName);
      mkdirSync(folder, { recursive: true });
      for (const file of swiftFiles) {
        copyFileSync(join(mod.modRequest.projectRoot, shared.sources, 'ios', file), join(folder, file));
      }
      writeFileSync(join(folder, `${extensionName}-Info.plist`), infoPlist(shared));
      writeFileSync(join(folder, `${extensionName}.entitlements`), plist(entitlementsFor({}, shared)));
      return mod;
    },
  ]);
}

function infoPlist({ appGroup, keychainGroup }) {
  return plist({
    CFBundleIdentifier: '$(PRODUCT_BUNDLE_IDENTIFIER)',
    CFBundleName: '$(PRODUCT_NAME)',
    CFBundleExecutable: '$(EXECUTABLE_NAME)',
    CFBundlePackageType: 'XPC!',
    CFBundleVersion: '$(CURRENT_PROJECT_VERSION)',
    CFBundleShortVersionString: '$(MARKETING_VERSION)',
    WaxwingAppGroup: appGroup,
    WaxwingKeychainGroup: keychainGroup,
    NSExtension: {
      NSExtensionPointIdentifier: 'com.apple.usernotifications.service',
      NSExtensionPrincipalClass: `$(PRODUCT_MODULE_NAME).${extensionName}`,
    },
  });
}

function plist(value) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n${plistValue(value)}\n</plist>\n`;
}

function plistValue(value) {
  if (typeof value === 'string')
    return `<string>${value.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</string>`;
  if (Array.isArray(value)) return `<array>${value.map(plistValue).join('')}</array>`;
  const entries = Object.entries(value).map(([name, inner]) => `<key>${name}</key>${plistValue(inner)}`);
  return `<dict>${entries.join('\n')}</dict>`;
}

/** The extension as a target of the Xcode project, embedded in the app. A second prebuild does not add another one. */
function withExtensionTarget(config, shared) {
  return withXcodeProject(config, (mod) => {
    const project = mod.modResults;
    if (project.pbxTargetByName(extensionName) || project.pbxTargetByName(`"${extensionName}"`)) return mod;
    // The library makes the app depend on the extension only if the project has these sections.
    project.hash.project.objects.PBXTargetDependency ??= {};
    project.hash.project.objects.PBXContainerItemProxy ??= {};
    const target = project.addTarget(
      extensionName,
      'app_extension',
      extensionName,
      `${shared.bundleId}.push`,
    );
    project.addBuildPhase(swiftFiles, 'PBXSourcesBuildPhase', 'Sources', target.uuid);
    project.addBuildPhase([], 'PBXFrameworksBuildPhase', 'Frameworks', target.uuid);
    const files = [...swiftFiles, `${extensionName}-Info.plist`, `${extensionName}.entitlements`];
    const group = project.addPbxGroup(files, extensionName, extensionName);
    project.addToPbxGroup(group.uuid, project.getFirstProject().firstProject.mainGroup);
    for (const settings of extensionSettings(project)) {
      Object.assign(settings, {
        CODE_SIGN_ENTITLEMENTS: `${extensionName}/${extensionName}.entitlements`,
        CURRENT_PROJECT_VERSION: '1',
        IPHONEOS_DEPLOYMENT_TARGET: '15.1',
        MARKETING_VERSION: '1.0',
        SWIFT_VERSION: '5.0',
        TARGETED_DEVICE_FAMILY: '"1,2"',
        ...(shared.developmentTeam === undefined ? {} : { DEVELOPMENT_TEAM: shared.developmentTeam }),
      });
    }
    return mod;
  });
}

function extensionSettings(project) {
  return Object.values(project.pbxXCBuildConfigurationSection())
    .filter((configuration) => configuration.buildSettings?.PRODUCT_NAME === `"${extensionName}"`)
    .map((configuration) => configuration.buildSettings);
}

function withKotlinFiles(config, { sources }) {
  return withDangerousMod(config, [
    'android',
    (mod) => {
      const folder = join(mod.modRequest.platformProjectRoot, 'app/src/main/java/com/example/push');
      mkdirSync(folder, { recursive: true });
      for (const file of kotlinFiles) {
        copyFileSync(join(mod.modRequest.projectRoot, sources, 'android', file), join(folder, file));
      }
      return mod;
    },
  ]);
}

function withMessagingService(config) {
  return withAndroidManifest(config, (mod) => {
    const application = AndroidConfig.Manifest.getMainApplicationOrThrow(mod.modResults);
    const name = 'com.example.push.PushMessagingService';
    const others = (application.service ?? []).filter((service) => service.$['android:name'] !== name);
    application.service = [
      ...others,
      {
        $: { 'android:name': name, 'android:exported': 'false' },
        'intent-filter': [{ action: [{ $: { 'android:name': 'com.google.firebase.MESSAGING_EVENT' } }] }],
      },
    ];
    return mod;
  });
}

function withLibraries(config) {
  return withAppBuildGradle(
    withPodfile(config, (mod) => append(mod, pod)),
    (mod) => append(mod, gradle),
  );
}

function append(mod, text) {
  if (!mod.modResults.contents.includes(text)) mod.modResults.contents += text;
  return mod;
}

/** Registers `NativeModules.PushKeyStore`. */
function withKeyStoreModule(config) {
  return withMainApplication(config, (mod) => {
    const { contents } = mod.modResults;
    if (contents.includes(reactPackage)) return mod;
    const start = 'PackageList(this).packages.apply {';
    if (!contents.includes(start)) {
      throw new Error(`with-waxwing-push: MainApplication has no "${start}"; add ${reactPackage} by hand.`);
    }
    mod.modResults.contents = contents.replace(start, `${start}\n              ${reactPackage}`);
    return mod;
  });
}
