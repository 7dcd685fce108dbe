// What a program in TypeScript sees that requires the package: this is compiled and never run.

import synod = require('@synod/client');
import type { v1 } from '@synod/client';

export async function uses(): Promise<bigint | undefined> {
  const client: synod.Client = new synod.Client({ endpoints: ['127.0.0.1:4600'] });
  const status: v1.ClusterStatusResponse = await client.status();
  try {
    await client.lock({ namespace: 'default', name: 'leader' });
  } catch (error) {
    if (error instanceof synod.StaleEpochError) return status.header?.revision;
    throw error;
  }
  return undefined;
}
