import Foundation
import Sodium

/// An account in the format of the client's `exportForExtension`, version 1.
struct ExtensionAccount: Decodable {
  let version: Int
  let pushAccountId: String
  let realmOrigin: String
  let userId: String
  let publicKey: String
  let privateKey: String
  /// Nil in texts from older app versions.
  let pushKeys: [PushKey]?

  /// Origin of the organization and id of the user. Unlike the push account id, the owner never changes.
  var owner: String { "\(realmOrigin) \(userId)" }

  struct PushKey: Decodable {
    let pushKeyId: String
    let key: String
  }
}

/// The fields of a push, with ids in decimal digits.
struct ReceivedPush {
  let pushKeyId: String?
  let pushAccountId: String?
  let encryptedData: String?
}

/// The fields of a notification that the extension uses.
struct PushNotification: Decodable {
  let type: String
  let realm_url: String
  let user_id: Int64
  let message_id: Int64?
  let message_ids: [Int64]?
  let time: Int64?
  let content: String?
  let sender_full_name: String?
  let channel_name: String?
  let topic: String?
  let id: String?
}

/// Content that only the app understands.
struct PushPayload {
  let id: String
  let time: Int64
  let payload: [String: Any]
}

enum OpenedPush {
  case message(PushNotification, account: ExtensionAccount)
  case remove([Int64], account: ExtensionAccount)
  case payload(PushPayload, account: ExtensionAccount)
  case test
  case ignored(String)
}

/// Opens a push. Returns a result whatever the push contains.
/// - Parameter readAccounts: returns the output of `exportForExtension` for every account.
func openPush(_ push: ReceivedPush, readAccounts: () -> [String]) -> OpenedPush {
  // Step 1: the box and one of the two ids must be present and well-formed.
  let keyId = push.pushKeyId.flatMap { id in UInt32(id).map { String($0) } == id ? id : nil }
  let accountId = push.pushAccountId.flatMap { id in Int64(id).map { String($0) } == id ? id : nil }
  guard keyId != nil || accountId != nil, let encryptedData = push.encryptedData,
    let box = decodeBase64(encryptedData.filter { !$0.isASCIIWhitespace })
  else { return .ignored("not-encrypted-push") }

  // Step 2: find the account whose key the push names.
  let accounts = readAccounts().compactMap { decodeAccount($0) }
  guard
    let account = accounts.first(where: { account in
      keyId.map { pushKey(of: account, id: $0) != nil } ?? (account.pushAccountId == accountId)
    })
  else { return .ignored("unknown-account") }

  // Step 3: open the box with that key. If that fails for any reason, the push is ignored.
  guard
    let plaintext = keyId.map({ openSecret(box, pushKey(of: account, id: $0)) }) ?? openSealed(box, account)
  else { return .ignored("cannot-open") }

  // Step 4: the content must be for this account and of a known type.
  guard let notification = try? JSONDecoder().decode(PushNotification.self, from: Data(plaintext)) else {
    return .ignored("unknown-type")
  }
  let isKnown = ["message", "remove", "test", "payload"].contains(notification.type)
  guard isKnown else { return .ignored("unknown-type") }
  guard webOrigin(of: notification.realm_url) == account.realmOrigin,
    String(notification.user_id) == account.userId
  else { return .ignored("wrong-account") }

  switch notification.type {
  case "remove": return .remove(notification.message_ids ?? [], account: account)
  case "test": return .test
  case "payload":
    return payload(of: notification, plaintext).map { .payload($0, account: account) } ?? .ignored("unknown-type")
  default:
    let isWhole =
      notification.message_id != nil && notification.time != nil && notification.content != nil
      && notification.sender_full_name != nil
    return isWhole ? .message(notification, account: account) : .ignored("unknown-type")
  }
}

private func payload(of notification: PushNotification, _ plaintext: Bytes) -> PushPayload? {
  let object = try? JSONSerialization.jsonObject(with: Data(plaintext)) as? [String: Any]
  guard let payload = object?["payload"] as? [String: Any], let time = notification.time,
    let id = notification.id, id.range(of: "^[A-Za-z0-9_-]{1,64}$", options: .regularExpression) != nil
  else { return nil }
  return PushPayload(id: id, time: time, payload: payload)
}

private func openSealed(_ sealed: Bytes, _ account: ExtensionAccount) -> Bytes? {
  guard let publicKey = decodeBase64(account.publicKey), let privateKey = decodeBase64(account.privateKey)
  else { return nil }
  return Sodium().box.open(
    anonymousCipherText: sealed, recipientPublicKey: publicKey, recipientSecretKey: privateKey)
}

/// Decrypts a secret box that is preceded by its nonce.
private func openSecret(_ nonceAndBox: Bytes, _ key: Bytes?) -> Bytes? {
  key.flatMap { Sodium().secretBox.open(nonceAndAuthenticatedCipherText: nonceAndBox, secretKey: $0) }
}

private func pushKey(of account: ExtensionAccount, id: String) -> Bytes? {
  account.pushKeys?.first { $0.pushKeyId == id }.flatMap { decodeBase64($0.key) }
}

/// Decodes an account. Returns nil for a text of an unknown version.
func decodeAccount(_ text: String) -> ExtensionAccount? {
  let account = try? JSONDecoder().decode(ExtensionAccount.self, from: Data(text.utf8))
  return account?.version == 1 ? account : nil
}

/// Decodes padded standard base64, and returns nil for any other text. Re-encoding the result detects stray bits in the
/// last character.
private func decodeBase64(_ text: String) -> Bytes? {
  guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
  return Bytes(data)
}

/// Returns a URL's origin in lowercase: the scheme, the host, and the port if it is not the default. Returns nil unless
/// the URL is a valid http or https URL without a user name.
func webOrigin(of url: String) -> String? {
  guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
    let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty, parts.user == nil,
    scheme == "https" || scheme == "http"
  else { return nil }
  let defaultPort = scheme == "https" ? 443 : 80
  guard let port = parts.port, port != defaultPort else { return "\(scheme)://\(host)" }
  return "\(scheme)://\(host):\(port)"
}

extension Character {
  fileprivate var isASCIIWhitespace: Bool { isASCII && isWhitespace }
}
