package waxwing.push

import android.app.Activity
import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.os.Bundle

/**
 * Opens the app after a tap. Android passes an app's main activity its intent again whenever it restores the activity. This
 * activity is never restored, so each tap counts once.
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
     * Creates the intent that a tap on the notification of this name sends. Android distinguishes pending intents by their
     * action.
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
