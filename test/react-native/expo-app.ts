/** The files of an Expo app after `expo prebuild` that config plugins read, with minimal content. */
export const prebuiltApp: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "an-app", "version": "1.0.0" }',
  'android/app/build.gradle': "apply plugin: 'com.android.application'\n",
  'android/app/src/main/AndroidManifest.xml': `<manifest xmlns:android="http://schemas.android.com/apk/res/android">
  <application android:name=".MainApplication"></application>
</manifest>
`,
  'android/app/src/main/java/com/example/chat/MainApplication.kt': `package com.example.chat

class MainApplication : Application(), ReactApplication {
  override fun getPackages(): List<ReactPackage> =
      PackageList(this).packages.apply {
      }
}
`,
  'ios/Podfile': "target 'Chat' do\nend\n",
  'ios/Chat/Info.plist': '<plist version="1.0"><dict></dict></plist>',
  'ios/Chat/AppDelegate.swift': 'import Expo\n',
  'ios/Chat.xcodeproj/project.pbxproj': `// !$*UTF8*$!
{
  archiveVersion = 1;
  classes = {};
  objectVersion = 54;
  objects = {
/* Begin PBXBuildFile section */
    AA0000000000000000000001 /* AppDelegate.swift in Sources */ = {isa = PBXBuildFile; fileRef = AA0000000000000000000002 /* AppDelegate.swift */; };
/* End PBXBuildFile section */
/* Begin PBXFileReference section */
    AA0000000000000000000002 /* AppDelegate.swift */ = {isa = PBXFileReference; lastKnownFileType = sourcecode.swift; path = Chat/AppDelegate.swift; sourceTree = "<group>"; };
    AA0000000000000000000003 /* Chat.app */ = {isa = PBXFileReference; explicitFileType = wrapper.application; path = Chat.app; sourceTree = BUILT_PRODUCTS_DIR; };
/* End PBXFileReference section */
/* Begin PBXGroup section */
    AA0000000000000000000004 = {isa = PBXGroup; children = (AA0000000000000000000005 /* Products */, ); sourceTree = "<group>"; };
    AA0000000000000000000005 /* Products */ = {isa = PBXGroup; children = (AA0000000000000000000003 /* Chat.app */, ); name = Products; sourceTree = "<group>"; };
/* End PBXGroup section */
/* Begin PBXNativeTarget section */
    AA0000000000000000000006 /* Chat */ = {isa = PBXNativeTarget; buildConfigurationList = AA0000000000000000000007; buildPhases = (AA0000000000000000000008 /* Sources */, ); buildRules = (); dependencies = (); name = Chat; productName = Chat; productReference = AA0000000000000000000003 /* Chat.app */; productType = "com.apple.product-type.application"; };
/* End PBXNativeTarget section */
/* Begin PBXProject section */
    AA0000000000000000000009 /* Project object */ = {isa = PBXProject; buildConfigurationList = AA0000000000000000000007; compatibilityVersion = "Xcode 12.0"; mainGroup = AA0000000000000000000004; productRefGroup = AA0000000000000000000005 /* Products */; projectDirPath = ""; projectRoot = ""; targets = (AA0000000000000000000006 /* Chat */, ); };
/* End PBXProject section */
/* Begin PBXSourcesBuildPhase section */
    AA0000000000000000000008 /* Sources */ = {isa = PBXSourcesBuildPhase; buildActionMask = 2147483647; files = (AA0000000000000000000001 /* AppDelegate.swift in Sources */, ); runOnlyForDeploymentPostprocessing = 0; };
/* End PBXSourcesBuildPhase section */
/* Begin XCBuildConfiguration section */
    AA000000000000000000000A /* Release */ = {isa = XCBuildConfiguration; buildSettings = {INFOPLIST_FILE = Chat/Info.plist; PRODUCT_BUNDLE_IDENTIFIER = com.example.chat; PRODUCT_NAME = Chat; }; name = Release; };
/* End XCBuildConfiguration section */
/* Begin XCConfigurationList section */
    AA0000000000000000000007 = {isa = XCConfigurationList; buildConfigurations = (AA000000000000000000000A /* Release */, ); defaultConfigurationIsVisible = 0; defaultConfigurationName = Release; };
/* End XCConfigurationList section */
  };
  rootObject = AA0000000000000000000009 /* Project object */;
}
`,
};
