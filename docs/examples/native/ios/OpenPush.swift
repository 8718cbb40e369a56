import Foundation
import Sodium

/// An account as `exportForExtension` of the client writes it, version 1.
struct ExtensionAccount: Decodable {
  let version: Int
  let pushAccountId: String
  let realmOrigin: String
  let userId: String
  let publicKey: String
  let privateKey: String
}

/// What a notification says, as far as it is shown.
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
}

enum OpenedPush {
  case message(PushNotification, account: ExtensionAccount)
  case remove([Int64])
  case test
  case ignored(String)
}

/// Opens a push; whatever was received, it does not fail.
/// - Parameter findAccount: the text of `exportForExtension` for a push account id, in decimal digits.
func openPush(
  pushAccountId: String?, encryptedData: String?, findAccount: (String) -> String?
) -> OpenedPush {
  // Step 1: both fields are there and have the right form.
  guard let pushAccountId, let id = Int64(pushAccountId), String(id) == pushAccountId,
    let encryptedData, let sealed = decodeBase64(encryptedData.filter { !$0.isASCIIWhitespace })
  else { return .ignored("not-encrypted-push") }

  // Step 2: the account whose id the push carries.
  guard let text = findAccount(pushAccountId), let account = decodeAccount(text),
    account.version == 1, account.pushAccountId == pushAccountId,
    let publicKey = decodeBase64(account.publicKey), let privateKey = decodeBase64(account.privateKey)
  else { return .ignored("unknown-account") }

  // Step 3: the sealed box opens with the account's key pair, or it is ignored, whatever the reason.
  guard
    let plaintext = Sodium().box.open(
      anonymousCipherText: sealed, recipientPublicKey: publicKey, recipientSecretKey: privateKey)
  else { return .ignored("cannot-open") }

  // Step 4: what is in the box is for this very account, and of a type that is known.
  guard let notification = try? JSONDecoder().decode(PushNotification.self, from: Data(plaintext)) else {
    return .ignored("unknown-type")
  }
  let isKnown = ["message", "remove", "test"].contains(notification.type)
  guard isKnown else { return .ignored("unknown-type") }
  guard webOrigin(of: notification.realm_url) == account.realmOrigin,
    String(notification.user_id) == account.userId
  else { return .ignored("wrong-account") }

  switch notification.type {
  case "remove": return .remove(notification.message_ids ?? [])
  case "test": return .test
  default:
    let isWhole =
      notification.message_id != nil && notification.time != nil && notification.content != nil
      && notification.sender_full_name != nil
    return isWhole ? .message(notification, account: account) : .ignored("unknown-type")
  }
}

private func decodeAccount(_ text: String) -> ExtensionAccount? {
  try? JSONDecoder().decode(ExtensionAccount.self, from: Data(text.utf8))
}

/// Padded standard base64 and nothing else; encoding it again tells stray bits in the last character.
private func decodeBase64(_ text: String) -> Bytes? {
  guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
  return Bytes(data)
}

/// Scheme, host and port unless it is the scheme's default, in lower case; nil for a URL with a user name.
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
