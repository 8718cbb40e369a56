package android.util

object Log {
  @JvmStatic fun w(tag: String, message: String): Int = tag.length + message.length
}
