package waxwing.push

import android.app.Activity
import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.os.Bundle

/**
 * Opens the app after a tap. Android gives an app's main activity its intent again whenever it restores the activity.
 * This one is never restored, so each tap counts once.
 */
class PushTapActivity : Activity() {
  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    intent.action?.let(PushEvents::tapped)
    packageManager.getLaunchIntentForPackage(packageName)?.let(::startActivity)
    finish()
  }

  companion object {
    /** What a notification of this name does when it is tapped. Android tells pending intents apart by their action. */
    fun intentFor(context: Context, name: String): PendingIntent =
      PendingIntent.getActivity(
        context,
        0,
        Intent(name, null, context, PushTapActivity::class.java),
        PendingIntent.FLAG_IMMUTABLE or PendingIntent.FLAG_UPDATE_CURRENT,
      )
  }
}
