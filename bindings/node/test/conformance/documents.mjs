// The codec of the cases: a value is a JSON object, and its encoding says in which version it is.

/** Encodes in each of these versions, the first to begin with. */
export function documents(versions) {
  const known = (version) => {
    if (!versions.includes(version)) throw new Error(`${version} is not known here`);
  };
  return {
    preferred: versions[0],
    encode(value, version) {
      known(version);
      return { data: Buffer.from(JSON.stringify({ apiVersion: version, value })), mediaType: 'application/json' };
    },
    decode({ data }) {
      const document = JSON.parse(Buffer.from(data).toString());
      if (document.value === undefined || !versions.includes(document.apiVersion)) {
        throw new Error(`${JSON.stringify(document)} has none of ${versions.join(', ')}`);
      }
      return document.value;
    },
  };
}
