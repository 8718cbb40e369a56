package waxwing.push

import android.content.Context
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.security.GeneralSecurityException
import java.security.KeyStore
import java.util.Base64
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec

/**
 * Stores the output of `exportForExtension` by owner, encrypted with a key that never leaves the Android Keystore. The
 * key can be used while the phone is locked, because notifications also arrive then.
 */
class PushKeyStore(context: Context) {
  private val texts = context.getSharedPreferences("waxwing.push", Context.MODE_PRIVATE)

  fun put(owner: String, text: String) {
    val cipher = Cipher.getInstance(TRANSFORMATION)
    cipher.init(Cipher.ENCRYPT_MODE, key())
    // Binds the ciphertext to its account: one account's text cannot replace another's.
    cipher.updateAAD(owner.toByteArray())
    val kept = cipher.iv + cipher.doFinal(text.toByteArray())
    texts.edit().putString(owner, Base64.getEncoder().encodeToString(kept)).apply()
  }

  /**
   * Returns null if the owner has no text, if the stored text is damaged, or if the system has lost the key. The app
   * then registers the account again.
   */
  fun get(owner: String): String? {
    val stored = texts.getString(owner, null) ?: return null
    return try {
      val kept = Base64.getDecoder().decode(stored)
      val cipher = Cipher.getInstance(TRANSFORMATION)
      cipher.init(Cipher.DECRYPT_MODE, key(), GCMParameterSpec(128, kept, 0, IV_BYTES))
      cipher.updateAAD(owner.toByteArray())
      String(cipher.doFinal(kept, IV_BYTES, kept.size - IV_BYTES))
    } catch (_: GeneralSecurityException) {
      null
    } catch (_: IllegalArgumentException) {
      // The text is not base64, or shorter than its initialization vector.
      null
    }
  }

  fun all(): List<String> = texts.all.keys.mapNotNull(::get)

  fun remove(owner: String) {
    texts.edit().remove(owner).apply()
  }

  private fun key(): SecretKey {
    val keyStore = KeyStore.getInstance(PROVIDER).apply { load(null) }
    (keyStore.getKey(ALIAS, null) as? SecretKey)?.let { return it }
    val purposes = KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT
    val specification =
      KeyGenParameterSpec.Builder(ALIAS, purposes)
        .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
        .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
        .setKeySize(256)
        .build()
    val generator = KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER)
    generator.init(specification)
    return generator.generateKey()
  }

  private companion object {
    const val PROVIDER = "AndroidKeyStore"
    const val ALIAS = "waxwing.push"
    const val TRANSFORMATION = "AES/GCM/NoPadding"
    const val IV_BYTES = 12
  }
}
