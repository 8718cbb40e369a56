@file:Suppress("UNUSED_PARAMETER")

package android.content

import android.content.pm.ApplicationInfo
import android.content.pm.PackageManager
import android.net.Uri

abstract class Context {
  val packageName: String get() = throw NotImplementedError()
  val packageManager: PackageManager get() = throw NotImplementedError()
  val applicationInfo: ApplicationInfo get() = throw NotImplementedError()

  fun getSharedPreferences(name: String, mode: Int): SharedPreferences = throw NotImplementedError()

  fun startActivity(intent: Intent): Unit = throw NotImplementedError()

  companion object {
    const val MODE_PRIVATE = 0
  }
}

class Intent(val action: String?, uri: Uri?, context: Context, component: Class<*>)

interface SharedPreferences {
  val all: Map<String, *>

  fun getString(key: String, missing: String?): String?

  fun edit(): Editor

  interface Editor {
    fun putString(key: String, value: String?): Editor

    fun remove(key: String): Editor

    fun apply()
  }
}
