/** Transport security, and what proves who a client is. */

/** A PEM text: the path of a file, or the text itself as bytes. */
export type Pem = string | Uint8Array;

/**
 * Transport security of a client: what it asks of replicas, and what it shows them. Files are read again at each new
 * connection; one that cannot be used then is logged, and what was read before stays in use.
 */
export interface Tls {
  /** The CAs that the replicas' certificates must be signed by. */
  readonly ca: Pem;
  /** What is shown to the replicas; it goes with `key`. */
  readonly certificate?: Pem | undefined;
  /** The private key of the certificate. */
  readonly key?: Pem | undefined;
  /** The name that the replicas' certificates must be for; the host of each endpoint if not set. */
  readonly serverName?: string | undefined;
}

/** The token of a Kubernetes service account: the path of its file, or the token itself as bytes. */
export type Token = string | Uint8Array;

/** Transport security as the client takes it. */
export const tlsOptions = (tls: Tls | undefined): object | undefined =>
  tls && { ...tls, ca: pemOption(tls.ca), certificate: pemOption(tls.certificate), key: pemOption(tls.key) };

function pemOption(pem: Pem | undefined): object | undefined {
  if (pem === undefined || typeof pem === 'string') return pem === undefined ? undefined : { file: pem };
  return { pem: Buffer.from(pem).toString('latin1') };
}

/** A token as the client takes it. */
export function tokenOption(token: Token | undefined): object | undefined {
  if (token === undefined || typeof token === 'string') return token === undefined ? undefined : { file: token };
  return { text: Buffer.from(token).toString('latin1') };
}
