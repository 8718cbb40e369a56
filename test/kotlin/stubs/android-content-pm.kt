@file:Suppress("UNUSED_PARAMETER")

package android.content.pm

import android.content.Intent

class ApplicationInfo {
  val icon: Int = throw NotImplementedError()
}

abstract class PackageManager {
  abstract fun getLaunchIntentForPackage(packageName: String): Intent?
}
