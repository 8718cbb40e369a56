@file:Suppress("UNUSED_PARAMETER")

package androidx.core.app

import android.app.Notification
import android.app.PendingIntent
import android.content.Context

class NotificationCompat {
  class Builder(context: Context, channelId: String) {
    fun setSmallIcon(icon: Int): Builder = this

    fun setContentTitle(title: CharSequence?): Builder = this

    fun setSubText(text: CharSequence?): Builder = this

    fun setContentText(text: CharSequence?): Builder = this

    fun setContentIntent(intent: PendingIntent?): Builder = this

    fun setAutoCancel(autoCancel: Boolean): Builder = this

    fun build(): Notification = throw NotImplementedError()
  }
}

class NotificationManagerCompat {
  fun notify(tag: String?, id: Int, notification: Notification): Unit = throw NotImplementedError()

  fun cancel(tag: String?, id: Int): Unit = throw NotImplementedError()

  companion object {
    fun from(context: Context): NotificationManagerCompat = throw NotImplementedError()
  }
}
