const { copyFileSync, mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const {
  withDangerousMod,
  withEntitlementsPlist,
  withInfoPlist,
  withPodfile,
  withXcodeProject,
} = require('expo/config-plugins');
const { appendText } = require('./append-text.cjs');
const { plist } = require('./plist.cjs');

const extensionName = 'NotificationService';
const swiftFiles = ['NotificationService.swift', 'OpenPush.swift', 'SeenMessages.swift'];
const appGroups = 'com.apple.security.application-groups';
const keychainGroups = 'keychain-access-groups';

const pod = `
target '${extensionName}' do
  pod 'Sodium', '~> 0.9'
end
`;

/** Adds the notification service extension, and the entitlements that it shares with the app. */
exports.withIosPush = function withIosPush(config, options) {
  const bundleId = config.ios?.bundleIdentifier;
  if (bundleId === undefined)
    throw new Error('@waxwing/client: set ios.bundleIdentifier in the app config first.');
  const shared = {
    ...options,
    bundleId,
    ownKeychainGroup: `$(AppIdentifierPrefix)${bundleId}`,
    appGroup: `group.${bundleId}`,
    keychainGroup: `$(AppIdentifierPrefix)${bundleId}.push`,
  };
  const changes = [
    withExtensionDeclared,
    withSharedEntitlements,
    withExtensionFiles,
    withExtensionTarget,
    withExtensionPod,
  ];
  return changes.reduce((changed, change) => change(changed, shared), config);
};

/** Declares the extension in the app config, because EAS Build creates its credentials before running prebuild. */
function withExtensionDeclared(config, { bundleId, ...shared }) {
  const { eas } = { eas: {}, ...config.extra };
  const { build = {} } = eas;
  const { experimental = {} } = build;
  const { ios = {} } = experimental;
  const others = (ios.appExtensions ?? []).filter(({ targetName }) => targetName !== extensionName);
  const own = {
    targetName: extensionName,
    bundleIdentifier: `${bundleId}.push`,
    entitlements: extensionEntitlements(shared),
  };
  const declared = { ...experimental, ios: { ...ios, appExtensions: [...others, own] } };
  return {
    ...config,
    extra: { ...config.extra, eas: { ...eas, build: { ...build, experimental: declared } } },
  };
}

function extensionEntitlements({ appGroup, keychainGroup }) {
  return { [appGroups]: [appGroup], [keychainGroups]: [keychainGroup] };
}

function including(list, item) {
  return [...new Set([...list, item])];
}

/** Lets the app write the data that the extension reads, and lets pushes without an alert wake the app. */
function withSharedEntitlements(config, shared) {
  const entitled = withEntitlementsPlist(config, (mod) => {
    const { [appGroups]: groups = [], [keychainGroups]: keychain = [] } = mod.modResults;
    // By default, iOS stores keychain items in the first group. The first group must not be the shared group, or the
    // extension could read all of the app's secrets.
    const first = keychain.length === 0 || keychain[0] === shared.keychainGroup;
    const ownFirst = first ? [shared.ownKeychainGroup, ...keychain] : keychain;
    mod.modResults = {
      'aps-environment': 'development',
      ...mod.modResults,
      [appGroups]: including(groups, shared.appGroup),
      [keychainGroups]: including(ownFirst, shared.keychainGroup),
    };
    return mod;
  });
  return withInfoPlist(entitled, (mod) => {
    mod.modResults.UIBackgroundModes = including(
      mod.modResults.UIBackgroundModes ?? [],
      'remote-notification',
    );
    return mod;
  });
}

function withExtensionFiles(config, shared) {
  return withDangerousMod(config, [
    'ios',
    (mod) => {
      const { platformProjectRoot, projectRoot } = mod.modRequest;
      const folder = join(platformProjectRoot, extensionName);
      mkdirSync(folder, { recursive: true });
      for (const file of swiftFiles) {
        copyFileSync(join(shared.folderOf(projectRoot, 'ios'), file), join(folder, file));
      }
      writeFileSync(join(folder, `${extensionName}-Info.plist`), infoPlist(shared));
      writeFileSync(join(folder, `${extensionName}.entitlements`), plist(extensionEntitlements(shared)));
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

/**
 * Adds the extension to the Xcode project as a target embedded in the app. Idempotent: a second prebuild adds nothing.
 */
function withExtensionTarget(config, { bundleId, developmentTeam }) {
  return withXcodeProject(config, (mod) => {
    const project = mod.modResults;
    if (project.pbxTargetByName(extensionName) || project.pbxTargetByName(`"${extensionName}"`)) return mod;
    // The library makes the app depend on the extension only if the project has these sections.
    project.hash.project.objects.PBXTargetDependency ??= {};
    project.hash.project.objects.PBXContainerItemProxy ??= {};
    const target = project.addTarget(extensionName, 'app_extension', extensionName, `${bundleId}.push`);
    project.addBuildPhase(swiftFiles, 'PBXSourcesBuildPhase', 'Sources', target.uuid);
    project.addBuildPhase([], 'PBXFrameworksBuildPhase', 'Frameworks', target.uuid);
    const files = [...swiftFiles, `${extensionName}-Info.plist`, `${extensionName}.entitlements`];
    const group = project.addPbxGroup(files, extensionName, extensionName);
    project.addToPbxGroup(group.uuid, project.getFirstProject().firstProject.mainGroup);
    for (const settings of extensionSettings(project)) {
      Object.assign(settings, {
        CODE_SIGN_ENTITLEMENTS: `${extensionName}/${extensionName}.entitlements`,
        // Apple requires the extension to have the same version as the app.
        CURRENT_PROJECT_VERSION: `"${config.ios.buildNumber ?? '1'}"`,
        IPHONEOS_DEPLOYMENT_TARGET: '15.1',
        MARKETING_VERSION: `"${config.version ?? '1.0'}"`,
        SWIFT_VERSION: '5.0',
        TARGETED_DEVICE_FAMILY: '"1,2"',
        ...(developmentTeam === undefined ? {} : { DEVELOPMENT_TEAM: developmentTeam }),
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

function withExtensionPod(config) {
  return withPodfile(config, (mod) => appendText(mod, pod));
}
