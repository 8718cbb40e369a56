package com.example.push

import android.annotation.SuppressLint
import android.content.Context
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationManagerCompat
import com.goterl.lazysodium.LazySodiumAndroid
import com.goterl.lazysodium.SodiumAndroid
import com.goterl.lazysodium.interfaces.Box
import com.goterl.lazysodium.interfaces.SecretBox
import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage

/** Android starts it for every data message, whether the app runs or not. */
class PushMessagingService : FirebaseMessagingService() {
  private val sodium by lazy { LazySodiumAndroid(SodiumAndroid()) }
  private val keys by lazy { PushKeyStore(this) }

  override fun onMessageReceived(message: RemoteMessage) {
    val notifications = NotificationManagerCompat.from(this)
    when (val opened = openPush(message.data, keys::all, boxes)) {
      is OpenedPush.Message -> if (isNew(opened)) show(opened)
      is OpenedPush.Remove ->
        opened.messageIds.forEach { notifications.cancel(tagOf(opened.pushAccountId, it), 0) }
      is OpenedPush.Test, is OpenedPush.Ignored -> Unit
    }
  }

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

  /** Remembers the message, so that a replay of it is not shown, and forgets accounts that have no keys any more. */
  private fun isNew(message: OpenedPush.Message): Boolean {
    val storage = getSharedPreferences("waxwing.seen", Context.MODE_PRIVATE)
    val account = message.pushAccountId
    val known = SeenMessages.decode(storage.getString(account, null).orEmpty())
    val seen = known.with(SeenMessages.SeenMessage(message.time, message.messageId)) ?: return false
    val changes = storage.edit()
    storage.all.keys.filter { keys.get(it) == null }.forEach { changes.remove(it) }
    changes.putString(account, seen.encode()).apply()
    return true
  }

  // Without the permission to notify, Android drops it.
  @SuppressLint("MissingPermission")
  private fun show(message: OpenedPush.Message) {
    val notification =
      NotificationCompat.Builder(this, "messages")
        .setSmallIcon(applicationInfo.icon)
        .setContentTitle(message.sender)
        .setSubText(message.topic)
        .setContentText(message.content)
        .setAutoCancel(true)
        .build()
    val tag = tagOf(message.pushAccountId, message.messageId)
    NotificationManagerCompat.from(this).notify(tag, 0, notification)
  }

  private fun tagOf(pushAccountId: String, messageId: Long) = "$pushAccountId $messageId"
}
