import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prebuiltApp } from './expo-app.js';

const require = createRequire(import.meta.url);
const examples = join(import.meta.dirname, '../../docs/examples/native');

const { compileModsAsync } = require('@expo/config-plugins') as {
  compileModsAsync(config: object, options: { projectRoot: string; platforms: string[] }): Promise<unknown>;
};

describe('The config plugin for Expo', () => {
  const app = mkdtempSync(join(tmpdir(), 'waxwing-expo-'));
  const read = (file: string) => readFileSync(join(app, file), 'utf8');
  const files = ['ios/Chat.xcodeproj/project.pbxproj', 'ios/Podfile', 'android/app/build.gradle'] as const;
  const manifest = 'android/app/src/main/AndroidManifest.xml';

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(app, file)), { recursive: true });
    writeFileSync(join(app, file), text);
  }

  async function prebuild(): Promise<void> {
    const plugin = createRequire(join(app, 'package.json'))('./with-waxwing-push.cjs');
    const config = {
      name: 'Chat',
      slug: 'chat',
      ios: { bundleIdentifier: 'com.example.chat' },
      android: { package: 'com.example.chat' },
      _internal: { projectRoot: app },
    };
    const changed = plugin(config, { developmentTeam: 'ABCDE12345' });
    await compileModsAsync(changed, { projectRoot: app, platforms: ['ios', 'android'] });
  }

  beforeAll(async () => {
    for (const [file, text] of Object.entries(prebuiltApp)) write(file, text);
    // In an app, the package `expo` re-exports this.
    const real = JSON.stringify(require.resolve('@expo/config-plugins'));
    write('node_modules/expo/config-plugins.js', `module.exports = require(${real});`);
    cpSync(join(examples, 'expo/with-waxwing-push.cjs'), join(app, 'with-waxwing-push.cjs'));
    for (const platform of ['ios', 'android']) {
      cpSync(join(examples, platform), join(app, 'native', platform), { recursive: true });
    }
    await prebuild();
  });
  afterAll(() => rmSync(app, { recursive: true, force: true }));

  it('adds the extension to the Xcode project, embedded in the app, with its sources', () => {
    const project = read('ios/Chat.xcodeproj/project.pbxproj');
    expect(project).toContain('productType = "com.apple.product-type.app-extension"');
    expect(project).toContain('NotificationService.appex in Copy Files');
    expect(project).toContain('PRODUCT_BUNDLE_IDENTIFIER = "com.example.chat.push"');
    expect(project).toMatch(/isa = PBXTargetDependency;\s+target = \w+ \/\* "NotificationService" \*\//);
    const sources = readdirSync(join(examples, 'ios'));
    expect(sources).toContain('SeenMessages.swift');
    for (const file of sources) {
      expect(project).toContain(`${file} in Sources`);
      expect(read(`ios/NotificationService/${file}`)).toBe(readFileSync(join(examples, 'ios', file), 'utf8'));
    }
    expect(read('ios/Podfile')).toContain("target 'NotificationService' do\n  pod 'Sodium'");
  });

  it('lets app and extension share one app group and one group of the keychain', () => {
    for (const file of ['Chat/Chat.entitlements', 'NotificationService/NotificationService.entitlements']) {
      const entitlements = read(`ios/${file}`);
      expect(entitlements).toContain('<string>group.com.example.chat</string>');
      expect(entitlements).toContain('<string>$(AppIdentifierPrefix)com.example.chat.push</string>');
    }
    const info = read('ios/NotificationService/NotificationService-Info.plist');
    expect(info).toContain(
      '<key>WaxwingKeychainGroup</key><string>$(AppIdentifierPrefix)com.example.chat.push',
    );
    expect(info).toContain('<string>com.apple.usernotifications.service</string>');
  });

  it('adds the messaging service to the Android app, its sources, and the module that takes the keys', () => {
    expect(read(manifest)).toMatch(
      /<service android:name="com\.example\.push\.PushMessagingService" android:exported="false">/,
    );
    for (const file of readdirSync(join(examples, 'android'))) {
      const copied = read(`android/app/src/main/java/com/example/push/${file}`);
      expect(copied, file).toBe(readFileSync(join(examples, 'android', file), 'utf8'));
    }
    const application = read('android/app/src/main/java/com/example/chat/MainApplication.kt');
    expect(application).toContain('add(com.example.push.PushKeyStorePackage())');
    expect(read('android/app/build.gradle')).toContain('com.goterl:lazysodium-android');
  });

  it('changes nothing more when it runs again', async () => {
    const before = [...files, manifest].map(read);
    await prebuild();
    expect([...files, manifest].map(read)).toEqual(before);
  });

  it('says what is missing in app.json', () => {
    const plugin = createRequire(join(app, 'package.json'))('./with-waxwing-push.cjs');
    expect(() => plugin({ name: 'Chat' })).toThrow('set ios.bundleIdentifier');
  });
});
