package com.example.push

import com.facebook.react.ReactPackage
import com.facebook.react.bridge.NativeModule
import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.ReactContextBaseJavaModule
import com.facebook.react.bridge.ReactMethod
import com.facebook.react.uimanager.ViewManager

/** `NativeModules.PushKeyStore`: passes the result of `exportForExtension` to [PushMessagingService]. */
class PushKeyStoreModule(context: ReactApplicationContext) : ReactContextBaseJavaModule(context) {
  private val keys = PushKeyStore(context)

  override fun getName() = "PushKeyStore"

  @ReactMethod
  fun put(owner: String, text: String, promise: Promise) {
    keys.put(owner, text)
    promise.resolve(null)
  }

  @ReactMethod
  fun remove(owner: String, promise: Promise) {
    keys.remove(owner)
    promise.resolve(null)
  }
}

class PushKeyStorePackage : ReactPackage {
  override fun createNativeModules(reactContext: ReactApplicationContext): List<NativeModule> =
    listOf(PushKeyStoreModule(reactContext))

  override fun createViewManagers(reactContext: ReactApplicationContext): List<ViewManager<*, *>> = emptyList()
}
