package waxwing.push

import android.app.Activity
import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.os.Bundle

/**
 * Opens the app when the user taps a notification. Android never restores this activity, so each tap counts once. An
 * app's main activity would receive the same intent again whenever Android restores it.
 */
class PushTapActivity : Activity() {
  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    intent.action?.let(PushEvents::tapped)
    packageManager.getLaunchIntentForPackage(packageName)?.let(::startActivity)
    finish()
  }

  companion object {
    /**
     * Creates the intent that Android sends when the user taps the notification with this name. The name is the action
     * of the intent, because Android distinguishes pending intents by action.
     */
    fun intentFor(context: Context, name: String): PendingIntent =
      PendingIntent.getActivity(
        context,
        0,
        Intent(name, null, context, PushTapActivity::class.java),
        PendingIntent.FLAG_IMMUTABLE or PendingIntent.FLAG_UPDATE_CURRENT,
      )
  }
}
