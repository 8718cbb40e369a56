const { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const {
  AndroidConfig,
  withAndroidManifest,
  withAppBuildGradle,
  withDangerousMod,
  withMainApplication,
} = require('expo/config-plugins');
const { appendText } = require('./append-text.cjs');

const packageName = 'waxwing.push';
const reactPackage = `add(${packageName}.PushPackage())`;

// react-native-libsodium and lazysodium-android both contain a libsodium.so. Gradle rejects duplicates unless the build
// picks one.
const gradle = `
android {
    packagingOptions {
        jniLibs {
            pickFirsts += '**/libsodium.so'
        }
    }
}

dependencies {
    implementation 'com.goterl:lazysodium-android:5.1.0@aar'
    implementation 'net.java.dev.jna:jna:5.17.0@aar'
    implementation 'com.google.firebase:firebase-messaging:24.1.0'
}
`;

// JNA looks up classes and fields by name. In release builds, R8 would remove or rename them.
const keepRules = `
-dontwarn java.awt.*
-keep class com.sun.jna.** { *; }
-keep class com.goterl.lazysodium.** { *; }
`;

/** Adds the messaging service, its libraries, and the module that connects it to JavaScript. */
exports.withAndroidPush = function withAndroidPush(config, options) {
  if (config.android?.package === undefined)
    throw new Error('@waxwing/client: set android.package in the app config first.');
  const changes = [withKotlinFiles, withKeepRules, withServiceDeclared, withLibraries, withModule];
  return changes.reduce((changed, change) => change(changed, options), config);
};

function withKotlinFiles(config, { folderOf }) {
  return withDangerousMod(config, [
    'android',
    (mod) => {
      const { platformProjectRoot, projectRoot } = mod.modRequest;
      const source = folderOf(projectRoot, 'android');
      const folder = join(platformProjectRoot, 'app/src/main/java', ...packageName.split('.'));
      mkdirSync(folder, { recursive: true });
      for (const file of readdirSync(source)) copyFileSync(join(source, file), join(folder, file));
      return mod;
    },
  ]);
}

function withKeepRules(config) {
  return withDangerousMod(config, [
    'android',
    (mod) => {
      const file = join(mod.modRequest.platformProjectRoot, 'app/proguard-rules.pro');
      const rules = readFileSync(file, 'utf8');
      if (!rules.includes(keepRules)) writeFileSync(file, rules + keepRules);
      return mod;
    },
  ]);
}

/** Declares the service that receives FCM messages, and the activity that opens when the user taps a notification. */
function withServiceDeclared(config) {
  return withAndroidManifest(config, (mod) => {
    const application = AndroidConfig.Manifest.getMainApplicationOrThrow(mod.modResults);
    application.service = replacing(application.service, {
      $: { 'android:name': `${packageName}.PushMessagingService`, 'android:exported': 'false' },
      'intent-filter': [{ action: [{ $: { 'android:name': 'com.google.firebase.MESSAGING_EVENT' } }] }],
    });
    application.activity = replacing(application.activity, {
      $: {
        'android:name': `${packageName}.PushTapActivity`,
        'android:exported': 'false',
        'android:excludeFromRecents': 'true',
        'android:noHistory': 'true',
        'android:taskAffinity': '',
        'android:theme': '@android:style/Theme.Translucent.NoTitleBar',
      },
    });
    return mod;
  });
}

function replacing(components = [], component) {
  const name = component.$['android:name'];
  return [...components.filter(({ $ }) => $['android:name'] !== name), component];
}

function withLibraries(config) {
  return withAppBuildGradle(config, (mod) => appendText(mod, gradle));
}

/** Registers `NativeModules.WaxwingPush`. */
function withModule(config) {
  return withMainApplication(config, (mod) => {
    const { contents } = mod.modResults;
    if (contents.includes(reactPackage)) return mod;
    const start = 'PackageList(this).packages.apply {';
    if (!contents.includes(start)) {
      throw new Error(`@waxwing/client: MainApplication has no "${start}"; add ${reactPackage} by hand.`);
    }
    mod.modResults.contents = contents.replace(start, `${start}\n              ${reactPackage}`);
    return mod;
  });
}
