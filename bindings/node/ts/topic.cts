/** Topics: what members agree on, encodings and all else. */

import { direct } from './call.cjs';
import type { GroupResource } from './generated/messages.cjs';
import { native } from './native.cjs';
import { fromJson, toJson, type Init } from './values.cjs';

/**
 * What members agree on: the encoding of a resource, the key that encrypts its objects, or the level of a feature.
 *
 * `Topic.parse('keys/secrets')` is the key of secrets. Its `resource` goes into entries, permits, checks and migrations like
 * any other resource: its versions are keys.
 */
export class Topic {
  private constructor(
    /** `encoding`, `keys`, `served` or `features`. */
    readonly kind: string,
    /** Its name within its kind: `secrets`, `deployments.apps`. */
    readonly name: string,
    /** The resource that it is. */
    readonly resource: GroupResource,
  ) {}

  /** The topic with this text: `encoding/<name>`, `keys/<name>`, `served/<name>` or `features/<name>`. Any other text is refused. */
  static parse(text: string): Topic {
    return Topic.#read(direct(() => native.topic(text)));
  }

  /** The topic that a resource is. */
  static of(resource: Init<GroupResource>): Topic {
    return Topic.#read(direct(() => native.topicOf(toJson('GroupResource', resource))));
  }

  static #read(document: string): Topic {
    const told = JSON.parse(document) as { kind: string; name: string; resource: unknown };
    return new Topic(told.kind, told.name, fromJson('GroupResource', told.resource));
  }

  /** Its text: `keys/secrets`. */
  toString(): string {
    return `${this.kind}/${this.name}`;
  }
}
