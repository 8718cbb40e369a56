package waxwing.push

import android.annotation.SuppressLint
import android.content.Context
import android.util.Log
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationManagerCompat
import com.goterl.lazysodium.LazySodiumAndroid
import com.goterl.lazysodium.SodiumAndroid
import com.goterl.lazysodium.interfaces.Box
import com.goterl.lazysodium.interfaces.SecretBox
import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage

/**
 * Opens pushes and shows notifications. Android starts this service for every data message, even if the app is not
 * running.
 */
class PushMessagingService : FirebaseMessagingService() {
  private val sodium by lazy { LazySodiumAndroid(SodiumAndroid()) }
  private val keys by lazy { PushKeyStore(this) }

  override fun onMessageReceived(message: RemoteMessage) {
    val notifications = NotificationManagerCompat.from(this)
    when (val opened = openPush(message.data, keys::all, boxes)) {
      is OpenedPush.Message -> {
        val name = opened.messageId.toString()
        val shown = Shown(opened.sender, opened.topic, opened.content)
        if (isNew(opened.owner, opened.time, name)) show(tagOf(opened.owner, name), shown)
      }
      is OpenedPush.Payload -> {
        // The app defines the payload. This example shows its title and body.
        val name = "p${opened.id}"
        val shown = Shown(opened.payload.optString("title"), null, opened.payload.optString("body"))
        if (isNew(opened.owner, opened.time, name)) show(tagOf(opened.owner, name), shown)
      }
      is OpenedPush.Remove ->
        opened.messageIds.forEach { notifications.cancel(tagOf(opened.owner, it.toString()), 0) }
      is OpenedPush.Test, is OpenedPush.Ignored -> Unit
    }
  }

  /**
   * Reports a new token to JavaScript. The app registers the token immediately if it is running, or else at its next
   * start.
   */
  override fun onNewToken(token: String) = PushEvents.tokenReplaced()

  private val boxes =
    object : Boxes {
      override fun openSealed(sealed: ByteArray, publicKey: ByteArray, privateKey: ByteArray): ByteArray? {
        if (sealed.size < Box.SEALBYTES) return null
        val plaintext = ByteArray(sealed.size - Box.SEALBYTES)
        val isOpen = sodium.cryptoBoxSealOpen(plaintext, sealed, sealed.size.toLong(), publicKey, privateKey)
        return if (isOpen) plaintext else null
      }

      override fun openSecret(box: ByteArray, nonce: ByteArray, key: ByteArray): ByteArray? {
        if (box.size < SecretBox.MACBYTES) return null
        val plaintext = ByteArray(box.size - SecretBox.MACBYTES)
        val isOpen = sodium.cryptoSecretBoxOpenEasy(plaintext, box, box.size.toLong(), nonce, key)
        return if (isOpen) plaintext else null
      }
    }

  private data class Shown(val title: String, val subtitle: String?, val text: String)

  /**
   * Records the message and returns whether it is new. A replay must not be shown. Also deletes the records of accounts
   * that no longer have keys.
   */
  private fun isNew(owner: String, time: Long, name: String): Boolean {
    val storage = getSharedPreferences("waxwing.seen", Context.MODE_PRIVATE)
    val now = System.currentTimeMillis() / 1000
    val known = storage.getString(owner, null)?.let { SeenMessages.decode(it, now, ::warnOfDamage) } ?: SeenMessages.none
    val seen = known.with(SeenMessages.SeenMessage(time, name)) ?: return false
    val changes = storage.edit()
    storage.all.keys.filter { keys.get(it) == null }.forEach { changes.remove(it) }
    changes.putString(owner, seen.encode()).apply()
    return true
  }

  private fun warnOfDamage() {
    Log.w("waxwing", "The stored text of an account in \"waxwing.seen\" is damaged: its unreadable parts are dropped.")
  }

  // The permission is not checked here, because Android drops the notification if the permission is missing.
  @SuppressLint("MissingPermission")
  private fun show(tag: String, shown: Shown) {
    val notification =
      NotificationCompat.Builder(this, "messages")
        .setSmallIcon(applicationInfo.icon)
        .setContentTitle(shown.title)
        .setSubText(shown.subtitle)
        .setContentText(shown.text)
        .setContentIntent(PushTapActivity.intentFor(this, tag))
        .setAutoCancel(true)
        .build()
    NotificationManagerCompat.from(this).notify(tag, 0, notification)
  }

  private fun tagOf(owner: String, name: String) = "$owner $name"
}
