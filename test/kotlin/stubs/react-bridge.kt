@file:Suppress("UNUSED_PARAMETER")

package com.facebook.react.bridge

import android.content.Context

annotation class ReactMethod

interface NativeModule {
  fun getName(): String

  fun initialize()

  fun invalidate()
}

interface Promise {
  fun resolve(value: Any?)

  fun reject(code: String?, throwable: Throwable?)
}

abstract class ReactContext : Context() {
  abstract fun hasActiveReactInstance(): Boolean

  fun emitDeviceEvent(eventName: String): Unit = throw NotImplementedError()
}

abstract class ReactApplicationContext : ReactContext()

abstract class ReactContextBaseJavaModule(context: ReactApplicationContext?) : NativeModule {
  override fun initialize() = Unit

  override fun invalidate() = Unit
}

class WritableNativeArray

object Arguments {
  fun makeNativeArray(objects: List<*>?): WritableNativeArray = throw NotImplementedError()
}
