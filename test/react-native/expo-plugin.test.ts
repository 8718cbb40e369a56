import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installClient } from './install-client.js';

const require = createRequire(import.meta.url);
const native = join(import.meta.dirname, '../../packages/client/native');

/** The template that `expo prebuild` copies into an app before it runs the plugins. */
const template = 'expo-template-bare-minimum@58.0.8';

interface AppConfig {
  readonly extra?: { readonly eas: { readonly build: unknown } };
}

const { compileModsAsync, withPlugins } = require('@expo/config-plugins') as {
  compileModsAsync(config: object, options: { projectRoot: string; platforms: string[] }): Promise<AppConfig>;
  withPlugins(config: object, plugins: readonly unknown[]): object;
};

const keychainGroups = (entitlements: string) =>
  [
    ...(/keychain-access-groups<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(entitlements)?.[1] ?? '').matchAll(
      /<string>(.*?)<\/string>/g,
    ),
  ].map(([, group]) => group);

describe('The packed client’s config plugin, applied to Expo’s template', () => {
  const app = mkdtempSync(join(tmpdir(), 'waxwing-expo-'));
  const read = (file: string) => readFileSync(join(app, file), 'utf8');
  const changed = {
    project: 'ios/HelloWorld.xcodeproj/project.pbxproj',
    podfile: 'ios/Podfile',
    entitlements: 'ios/HelloWorld/HelloWorld.entitlements',
    gradle: 'android/app/build.gradle',
    rules: 'android/app/proguard-rules.pro',
    manifest: 'android/app/src/main/AndroidManifest.xml',
    application: 'android/app/src/main/java/com/helloworld/MainApplication.kt',
  };

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(app, file)), { recursive: true });
    writeFileSync(join(app, file), text);
  }

  async function prebuild(config: object = {}): Promise<AppConfig> {
    const app_json = {
      name: 'HelloWorld',
      slug: 'hello',
      version: '1.2.0',
      ios: { bundleIdentifier: 'com.example.chat', buildNumber: '7', appleTeamId: 'ABCDE12345' },
      android: { package: 'com.helloworld' },
      _internal: { projectRoot: app },
      ...config,
    };
    const plugins = ['@waxwing/client'];
    const options = { projectRoot: app, platforms: ['ios', 'android'] };
    return compileModsAsync(withPlugins(app_json, plugins), options);
  }

  beforeAll(async () => {
    const packed = execFileSync('npm', ['pack', '--silent', '--prefer-offline', template], {
      cwd: app,
      encoding: 'utf8',
    });
    execFileSync('tar', ['-xzf', packed.trim(), '--strip-components=1'], { cwd: app });
    await installClient(join(app, 'node_modules'));
    // In an app, `expo/config-plugins` re-exports this package.
    const real = JSON.stringify(require.resolve('@expo/config-plugins'));
    write('node_modules/expo/config-plugins.js', `module.exports = require(${real});`);
    await prebuild();
  });
  afterAll(() => rmSync(app, { recursive: true, force: true }));

  it('adds the extension to the Xcode project, embedded in the app, with its sources', () => {
    const project = read(changed.project);
    expect(project).toContain('productType = "com.apple.product-type.app-extension"');
    expect(project).toContain('NotificationService.appex in Copy Files');
    expect(project).toContain('PRODUCT_BUNDLE_IDENTIFIER = "com.example.chat.push"');
    expect(project).toContain('CURRENT_PROJECT_VERSION = "7"');
    expect(project).toContain('DEVELOPMENT_TEAM = ABCDE12345');
    expect(project).toContain('MARKETING_VERSION = "1.2.0"');
    expect(project).toMatch(/isa = PBXTargetDependency;\s+target = \w+ \/\* "NotificationService" \*\//);
    const sources = readdirSync(join(native, 'ios'));
    expect(sources).toContain('SeenMessages.swift');
    for (const file of sources) {
      expect(project).toContain(`${file} in Sources`);
      expect(read(`ios/NotificationService/${file}`)).toBe(readFileSync(join(native, 'ios', file), 'utf8'));
    }
    expect(read(changed.podfile)).toContain("target 'NotificationService' do\n  pod 'Sodium'");
  });

  it('declares the extension for EAS Build, which creates its credentials', async () => {
    const { extra } = await prebuild();
    expect(extra?.eas.build).toEqual({
      experimental: {
        ios: {
          appExtensions: [
            {
              targetName: 'NotificationService',
              bundleIdentifier: 'com.example.chat.push',
              entitlements: {
                'com.apple.security.application-groups': ['group.com.example.chat'],
                'keychain-access-groups': ['$(AppIdentifierPrefix)com.example.chat.push'],
              },
            },
          ],
        },
      },
    });
  });

  it('shares one keychain group with the extension, without the app’s other secrets', () => {
    const extension = read('ios/NotificationService/NotificationService.entitlements');
    const shared = '$(AppIdentifierPrefix)com.example.chat.push';
    expect(keychainGroups(extension)).toEqual([shared]);
    // iOS stores items without a group in the first group of this list.
    expect(keychainGroups(read(changed.entitlements))).toEqual([
      '$(AppIdentifierPrefix)com.example.chat',
      shared,
    ]);
    const info = read('ios/NotificationService/NotificationService-Info.plist');
    expect(info).toContain(`<key>WaxwingKeychainGroup</key><string>${shared}`);
    expect(info).toContain('<string>com.apple.usernotifications.service</string>');
    for (const entitlements of [extension, read(changed.entitlements)])
      expect(entitlements).toContain('<string>group.com.example.chat</string>');
  });

  it('adds the messaging service, the activity for taps, their sources and the module', () => {
    const manifest = read(changed.manifest);
    expect(manifest).toMatch(
      /<service android:name="waxwing\.push\.PushMessagingService" android:exported="false">/,
    );
    expect(manifest).toMatch(
      /<activity android:name="waxwing\.push\.PushTapActivity" android:exported="false"/,
    );
    for (const file of readdirSync(join(native, 'android'))) {
      const copied = read(`android/app/src/main/java/waxwing/push/${file}`);
      expect(copied, file).toBe(readFileSync(join(native, 'android', file), 'utf8'));
    }
    expect(read(changed.application)).toContain('add(waxwing.push.PushPackage())');
  });

  it('makes Gradle pick one of two libsodium libraries, and R8 keep the classes that JNA looks up', () => {
    const gradle = read(changed.gradle);
    expect(gradle).toContain('com.goterl:lazysodium-android');
    expect(gradle).toContain("pickFirsts += '**/libsodium.so'");
    expect(read(changed.rules)).toContain('-keep class com.sun.jna.** { *; }');
  });

  it('is idempotent', async () => {
    const before = Object.values(changed).map(read);
    await prebuild();
    expect(Object.values(changed).map(read)).toEqual(before);
  });

  it('skips a platform that the app does not have', async () => {
    const before = read(changed.project);
    await prebuild({ platforms: ['android'], ios: {} });
    expect(read(changed.project)).toBe(before);
  });

  it('fails with the name of a missing field in the app config', async () => {
    await expect(prebuild({ ios: {} })).rejects.toThrow('set ios.bundleIdentifier');
    await expect(prebuild({ android: {} })).rejects.toThrow('set android.package');
  });
});
