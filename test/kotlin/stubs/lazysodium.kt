@file:Suppress("UNUSED_PARAMETER")

package com.goterl.lazysodium

class SodiumAndroid

class LazySodiumAndroid(sodium: SodiumAndroid) {
  fun cryptoBoxSealOpen(
    message: ByteArray,
    sealed: ByteArray,
    sealedBytes: Long,
    publicKey: ByteArray,
    privateKey: ByteArray,
  ): Boolean = throw NotImplementedError()

  fun cryptoSecretBoxOpenEasy(
    message: ByteArray,
    box: ByteArray,
    boxBytes: Long,
    nonce: ByteArray,
    key: ByteArray,
  ): Boolean = throw NotImplementedError()
}
