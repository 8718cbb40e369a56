import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '@waxwing/protocol';

// Exported for the readers of these two kinds of files, for which such a file is not a mistake.
export const googleAccount = 'the key of a Google service account';
export const listOfApps = 'an apps file';

type Recognize<Content> = readonly [matches: (content: Content) => boolean, name: string];

const hasType = (type: string) => (content: JsonObject) => content.type === type;
const hasFields =
  (...names: readonly string[]) =>
  (content: JsonObject) =>
    names.every((name) => Object.hasOwn(content, name));

const jsonFiles: readonly Recognize<JsonObject>[] = [
  [hasType('service_account'), googleAccount],
  [hasType('authorized_user'), 'the login of a person (application default credentials)'],
  [hasType('external_account'), 'a configuration of workload identity federation'],
  [hasFields('project_info', 'client'), "the Android app's own google-services.json"],
  [hasFields('installed'), 'an OAuth client file'],
  [hasFields('web'), 'an OAuth client file'],
  [hasFields('apiKey', 'projectId'), "a web app's own Firebase configuration"],
  [hasFields('fcm'), listOfApps],
  [hasFields('apns'), listOfApps],
  [hasFields('webpush'), listOfApps],
];

const contains = (pattern: RegExp) => (text: string) => pattern.test(text);
const hasPem = (label: string) => contains(new RegExp(`^["']?\\s*-----BEGIN (?:${label})-----`, 'm'));

const textFiles: readonly Recognize<string>[] = [
  [hasPem('OPENSSH PRIVATE KEY'), 'an SSH key'],
  [hasPem('[A-Z ]*PRIVATE KEY'), 'only a private key'],
  [hasPem('(?:NEW )?CERTIFICATE REQUEST'), 'a certificate request'],
  [hasPem('(?:TRUSTED )?CERTIFICATE'), 'a certificate'],
  [hasPem('[A-Z ]*PUBLIC KEY'), 'a public key'],
  [hasPem('PKCS7'), 'a chain of certificates'],
  [contains(/[\0\ufffd][\s\S]*<plist/), 'a provisioning profile'],
  [contains(/<plist/), "a property list such as the iOS app's own GoogleService-Info.plist"],
  [contains(/^<(?:!doctype|html)/i), 'a web page'],
  [contains(/^\{\\rtf/), 'a word processor document'],
  [contains(/\bapiKey\b[\s\S]*\bprojectId\b/), "a web app's own Firebase configuration"],
  [contains(/:APA91/), "a key of FCM's legacy API"],
  [hasPem('PGP [A-Z ]+'), 'an OpenPGP file'],
  [contains(/^PuTTY-User-Key-File/), 'an SSH key'],
  // Starts with the base64 encoding of `-----BEGIN` (PEM) or of `{` (JSON).
  [
    contains(/^(?:LS0tLS1CRUdJTi|ew(?:o|0K)|ey[A-DI-L])[A-Za-z0-9+/\s]*={0,2}$/),
    'still encoded in base64 (decode it with base64 -d)',
  ],
  // Binary files contain NUL bytes or are not valid UTF-8.
  [contains(/[\0\ufffd]/), 'a binary file such as a .p12 or .cer'],
];

/**
 * Recognizes files that are often mistaken for a credential. Returns a phrase that completes "it is …", or `undefined`
 * for any other file.
 */
export function recognizeFile(text: string): string | undefined {
  const content = text.trim();
  if (content === '') return 'empty';
  const json = parseJsonOrUndefined(content);
  if (isJsonObject(json)) return nameOf(jsonFiles, json);
  // Text that starts like JSON but does not parse is never recognized: damaged JSON may contain anything.
  return /^\{(?!\\rtf)/.test(content) ? undefined : nameOf(textFiles, content);
}

function nameOf<Content>(kinds: readonly Recognize<Content>[], content: Content): string | undefined {
  return kinds.find(([matches]) => matches(content))?.[1];
}
