// The parts of Android that the client's Kotlin files use, with Android's signatures. Only for compilation.
@file:Suppress("UNUSED_PARAMETER")

package android.app

import android.content.Context
import android.content.Intent
import android.os.Bundle

open class Activity : Context() {
  open val intent: Intent = throw NotImplementedError()

  protected open fun onCreate(savedInstanceState: Bundle?): Unit = throw NotImplementedError()

  open fun finish(): Unit = throw NotImplementedError()
}

class Notification

class PendingIntent {
  companion object {
    const val FLAG_IMMUTABLE = 1 shl 26
    const val FLAG_UPDATE_CURRENT = 1 shl 27

    fun getActivity(context: Context, requestCode: Int, intent: Intent, flags: Int): PendingIntent =
      throw NotImplementedError()
  }
}

open class Service : Context()
