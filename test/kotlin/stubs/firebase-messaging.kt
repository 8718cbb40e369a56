@file:Suppress("UNUSED_PARAMETER")

package com.google.firebase.messaging

import android.app.Service

abstract class FirebaseMessagingService : Service() {
  open fun onMessageReceived(message: RemoteMessage) = Unit

  open fun onNewToken(token: String) = Unit
}

class RemoteMessage {
  val data: Map<String, String> = throw NotImplementedError()
}
