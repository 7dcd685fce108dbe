/** The classes that Rust gives. What crosses is protobuf's JSON form; a test holds the names here against the library. */

type Token = CallToken | undefined;

export interface CallToken {
  asked(): string;
  cancel(): void;
}

export interface NativeClient {
  call(method: string, request: string, timeoutMs: number | undefined, token: Token): Promise<string>;
  endpoints(): string[];
  backUp(options: string, token: Token): Promise<string>;
  join(options: string, token: Token): Promise<NativeMembership>;
  watch(options: string, token: Token): Promise<NativeWatch>;
  reflect(options: string, token: Token): Promise<NativeReflector>;
  reflectObjects(options: string, token: Token): Promise<NativeObjectReflector>;
  lock(options: string, token: Token): Promise<NativeLock>;
  tryLock(options: string, token: Token): Promise<NativeLock>;
  election(options: string): NativeElection;
  observeLease(lease: string): NativeObserver;
  objects(options: string): NativeObjects;
  migrator(options: string): NativeMigrator;
  fenceGuard(member: string, token: Token): Promise<NativeFenceGuard>;
  close(): void;
}

export interface NativeWatch {
  next(token: Token): Promise<string | null>;
  close(): void;
}

export interface NativeObserver {
  next(token: Token): Promise<string | null>;
  close(): void;
}

export interface NativeReflector {
  revision(): bigint;
  list(kind: string): string;
  get(options: string): string | null;
  changed(since: bigint, token: Token): Promise<bigint>;
  reached(revision: bigint, timeoutMs: number | undefined, token: Token): Promise<void>;
  close(): void;
}

export interface NativeObjectReflector {
  pull(): { revision: bigint; changes?: string };
  revision(): bigint;
  changed(since: bigint, token: Token): Promise<bigint>;
  reached(revision: bigint, timeoutMs: number | undefined, token: Token): Promise<void>;
  close(): void;
}

export interface NativeMembership {
  readonly id: string;
  readonly instance: string;
  gate(): NativeGate;
  state(): string;
  stateChanged(token: Token): Promise<string>;
  ended(token: Token): Promise<string>;
  report(entries: string, token: Token): Promise<string>;
  reportChange(entry: string, token: Token): Promise<string>;
  ready(token: Token): Promise<void>;
  leave(drainLimitMs: number | undefined, token: Token): Promise<void>;
}

export interface NativeGate {
  permit(resource: string, waitMs: number | undefined, token: Token): Promise<NativePermit>;
  tryPermit(resource: string): NativePermit;
  waitsFor(): string | null;
  discovery(resource: string): string;
  isDrained(): boolean;
  door(waitMs: number | undefined, notStored: string): NativeDoor;
}

export interface NativeDoor {
  admit(method: string, target: string): Promise<NativeAdmitted>;
}

export interface NativeAdmitted {
  readonly refused: { readonly status: number; readonly contentType: string; readonly body: string } | null;
  takePermit(): NativePermit | null;
}

export interface NativePermit {
  resource(): string;
  encoding(): string;
  epoch(): bigint;
  revision(): bigint;
  check(): void;
  done(): void;
  unknownOutcome(): void;
  release(): void;
}

export interface NativeFenceGuard {
  check(permit: NativePermit, present: Uint8Array | undefined): void;
  close(): void;
}

export interface NativeLock {
  readonly holder: string;
  readonly token: bigint;
  readonly proof: string;
  check(): void;
  lost(token: Token): Promise<string>;
  release(token: Token): Promise<void>;
}

export interface NativeElection {
  campaign(token: Token): Promise<NativeLock>;
  over(lock: NativeLock, token: Token): Promise<{ lost?: string; preferred?: string }>;
  observe(): NativeObserver;
  withdraw(token: Token): Promise<void>;
}

export interface NativeObjects {
  version(): string;
  encodeIn(version: string): void;
  updater(key: string, cached: string | undefined): NativeUpdater;
  creator(options: string): NativeCreator;
}

export interface NativeStep {
  object: string;
  version?: string;
  changed: boolean;
  deleted: boolean;
}

export interface NativeUpdater {
  begin(token: Token): Promise<NativeStep>;
  failed(token: Token): Promise<NativeStep | null>;
  write(attributes: string, content: string, same: boolean | undefined, token: Token): Promise<NativeStep>;
}

export interface NativeCreator {
  version(): Promise<string>;
  write(content: string, token: Token): Promise<string | null>;
}

export interface NativeMigrator {
  run(token: Token): Promise<void>;
  runOne(name: string, token: Token): Promise<string>;
  asking(token: Token): Promise<NativeAsked>;
  close(): void;
}

export interface NativeAsked {
  readonly ended: boolean;
  takeTask(): NativeTask | null;
}

export interface NativeTask {
  document(): string;
  isWanted(): boolean;
  answer(answer: string): void;
}

/** What the library exports. */
export interface Native {
  readonly CallToken: new (traceparent?: string, tracestate?: string) => CallToken;
  readonly Client: new (options: string) => NativeClient;
  apiserverId(hostname: string): string;
  topic(text: string): string;
  topicOf(resource: string): string;
  counts(): { calls: number; handles: number };
}

export const native: Native = require('./synod.node') as Native;
