package com.goterl.lazysodium.interfaces

interface Box {
  companion object {
    const val SEALBYTES = 48
  }
}

interface SecretBox {
  companion object {
    const val MACBYTES = 16
  }
}
