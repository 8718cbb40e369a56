package waxwing.push

import com.facebook.react.ReactPackage
import com.facebook.react.bridge.Arguments
import com.facebook.react.bridge.NativeModule
import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.ReactContextBaseJavaModule
import com.facebook.react.bridge.ReactMethod
import com.facebook.react.uimanager.ViewManager

/**
 * `NativeModules.WaxwingPush`: passes the results of `exportForExtension` to [PushMessagingService], and taps to
 * JavaScript. Emits `waxwing.tap` when `takeTaps` has a tap, and `waxwing.token` when FCM has replaced the push token.
 */
class PushModule(context: ReactApplicationContext) : ReactContextBaseJavaModule(context) {
  private val keys = PushKeyStore(context)
  private val emit: (String) -> Unit = { if (context.hasActiveReactInstance()) context.emitDeviceEvent(it) }

  override fun getName() = "WaxwingPush"

  override fun initialize() = PushEvents.addListener(emit)

  override fun invalidate() = PushEvents.removeListener(emit)

  @ReactMethod
  fun put(owner: String, text: String, promise: Promise) = settle(promise) { keys.put(owner, text) }

  @ReactMethod
  fun remove(owner: String, promise: Promise) = settle(promise) { keys.remove(owner) }

  /** Resolves to the names of tapped notifications, the oldest first. Returns each tap only once. */
  @ReactMethod
  fun takeTaps(promise: Promise) {
    promise.resolve(Arguments.makeNativeArray(PushEvents.takeTaps()))
  }

  /**
   * Makes a change and settles the promise. If the Android Keystore fails, rejects the promise: an uncaught exception
   * would crash the app.
   */
  private fun settle(promise: Promise, change: () -> Unit) {
    try {
      change()
      promise.resolve(null)
    } catch (error: Exception) {
      promise.reject("WAXWING_KEYSTORE", error)
    }
  }
}

class PushPackage : ReactPackage {
  @Deprecated("React Native marks it as deprecated, but calls it for packages like this one.")
  override fun createNativeModules(reactContext: ReactApplicationContext): List<NativeModule> =
    listOf(PushModule(reactContext))

  override fun createViewManagers(reactContext: ReactApplicationContext): List<ViewManager<*, *>> = emptyList()
}
