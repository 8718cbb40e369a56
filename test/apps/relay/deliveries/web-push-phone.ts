import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { encodeWebPushToken } from '@waxwing/protocol';

/** A phone with a Web Push subscription. Decrypts pushes according to RFC 8291 and RFC 8188. */
export class WebPushPhone {
  readonly endpoint: string;
  readonly token: string;
  readonly keys = createECDH('prime256v1');
  readonly auth = randomBytes(16);

  constructor(endpoint: string) {
    this.endpoint = endpoint;
    const p256dh = this.keys.generateKeys('base64url');
    this.token = encodeWebPushToken({ endpoint, p256dh, auth: this.auth.toString('base64url') });
  }

  /** Decrypts the body of a push. @throws Error if the body was encrypted for another phone. */
  open(body: Buffer): string {
    const salt = body.subarray(0, 16);
    const senderKey = body.subarray(21, 86);
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.keys.getPublicKey(), senderKey]);
    const input = hkdfSync('sha256', this.keys.computeSecret(senderKey), this.auth, info, 32);
    const derive = (label: string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', Buffer.from(input), salt, `Content-Encoding: ${label}\0`, bytes));
    const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
    decipher.setAuthTag(body.subarray(-16));
    const record = Buffer.concat([decipher.update(body.subarray(86, -16)), decipher.final()]);
    if (record.at(-1) !== 2) throw new Error('the record is not the last one');
    return record.subarray(0, -1).toString();
  }
}
