//! Messages of protobuf, of which a part is wrong.

use super::dice::Dice;

/// What stands before a message of Kubernetes.
const MAGIC: &[u8] = b"k8s\0";

/// A field as it is on the wire.
#[derive(Clone, Debug)]
enum Field {
    Varint(u64, u64),
    Bytes(u64, Vec<u8>),
    /// Of 4 or 8 bytes.
    Fixed(u64, Vec<u8>),
}

/// Changes a message at a few places, of its fields or of its bytes.
pub(super) fn message(dice: &mut Dice, whole: &[u8]) -> Vec<u8> {
    let mut damaged = whole.to_vec();
    if dice.one_in(8) {
        return damaged;
    }
    if !dice.one_in(3)
        && let Some(rest) = whole.strip_prefix(MAGIC)
    {
        damaged = MAGIC.to_vec();
        damaged.extend(within(dice, rest, 0));
    }
    if dice.one_in(3) {
        let tokens: [&[u8]; 4] = [
            MAGIC,
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x0a\xff\xff\xff\x0f",
            b"\x0b",
        ];
        super::damage::bytes(dice, &mut damaged, &tokens);
    }
    damaged
}

/// Options of a deletion.
pub(super) fn delete_options() -> Vec<u8> {
    let text = |number, text: &str| Field::Bytes(number, text.as_bytes().to_vec());
    let names = written([text(1, "v1"), text(2, "DeleteOptions")].into_iter());
    let preconditions = written(
        [
            text(1, "00000000-0000-8000-8000-000000000001"),
            text(2, "1"),
        ]
        .into_iter(),
    );
    let options = [
        Field::Varint(1, 0),
        Field::Bytes(2, preconditions),
        text(4, "Background"),
        text(5, "All"),
    ];
    let envelope = [
        Field::Bytes(1, names),
        Field::Bytes(2, written(options.into_iter())),
    ];
    [MAGIC, &written(envelope.into_iter())].concat()
}

/// Takes out what no document may have that is to be created: the revision of the metadata.
pub(super) fn without_revision(whole: &[u8]) -> Vec<u8> {
    let Some(fields) = whole.strip_prefix(MAGIC).and_then(read) else {
        return whole.to_vec();
    };
    let out = fields.into_iter().map(|field| match field {
        Field::Bytes(2, message) => Field::Bytes(2, without(&message)),
        field => field,
    });
    [MAGIC, &written(out)].concat()
}

fn without(message: &[u8]) -> Vec<u8> {
    let Some(fields) = read(message) else {
        return message.to_vec();
    };
    let out = fields.into_iter().map(|field| match field {
        Field::Bytes(1, metadata) => match read(&metadata) {
            Some(own) => {
                // uid and resourceVersion.
                let kept = own
                    .into_iter()
                    .filter(|field| !matches!(field, Field::Bytes(5 | 6, _)));
                Field::Bytes(1, written(kept))
            }
            None => Field::Bytes(1, metadata),
        },
        field => field,
    });
    written(out)
}

/// Changes one field of a message, or of one in it.
fn within(dice: &mut Dice, message: &[u8], depth: usize) -> Vec<u8> {
    let Some(mut fields) = read(message).filter(|fields| !fields.is_empty()) else {
        let mut bytes = message.to_vec();
        super::damage::bytes(
            dice,
            &mut bytes,
            &[b"\0", "é".as_bytes(), b"2026-01-01T00:00:00Z"],
        );
        return bytes;
    };
    let place = dice.below(fields.len());
    let choice = dice.below(10);
    match (choice, &mut fields[place]) {
        (0, _) => drop(fields.remove(place)),
        (1, field) => {
            let twice = field.clone();
            fields.push(twice);
        }
        (2, Field::Varint(number, _) | Field::Bytes(number, _) | Field::Fixed(number, _)) => {
            *number = u64::from(dice.byte() % 16);
        }
        (3, field) => {
            let number = field.number();
            *field = match dice.below(3) {
                0 => Field::Varint(number, u64::MAX),
                1 => Field::Fixed(number, vec![0xff; if dice.one_in(2) { 4 } else { 8 }]),
                _ => Field::Bytes(number, vec![dice.byte(); dice.below(64)]),
            };
        }
        (4, Field::Bytes(_, bytes)) if depth < 4 => {
            // A message in itself, as often as it has levels.
            for _ in 0..dice.below(120) {
                *bytes = written([Field::Bytes(1, std::mem::take(bytes))].into_iter());
            }
        }
        (_, Field::Varint(_, value)) => {
            let values = [
                0,
                1,
                u64::MAX,
                1 << 63,
                (1 << 63) - 1,
                1 << 31,
                1 << 32,
                253_402_300_800,
            ];
            *value = *dice.pick(&values);
        }
        (_, Field::Bytes(_, bytes)) => *bytes = within(dice, bytes, depth + 1),
        (_, Field::Fixed(_, bytes)) => bytes.reverse(),
    }
    written(fields.into_iter())
}

impl Field {
    const fn number(&self) -> u64 {
        match self {
            Self::Varint(number, _) | Self::Bytes(number, _) | Self::Fixed(number, _) => *number,
        }
    }
}

/// The fields of a message; `None` if it is none.
fn read(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let number = key >> 3;
        let length = match key & 7 {
            0 => {
                fields.push(Field::Varint(number, varint(&mut bytes)?));
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (own, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        fields.push(match key & 7 {
            2 => Field::Bytes(number, own.to_vec()),
            _ => Field::Fixed(number, own.to_vec()),
        });
    }
    Some(fields)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn written(fields: impl Iterator<Item = Field>) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        let number = field.number() << 3;
        match field {
            Field::Varint(_, value) => {
                put(&mut out, number);
                put(&mut out, value);
            }
            Field::Bytes(_, bytes) => {
                put(&mut out, number | 2);
                put(&mut out, bytes.len() as u64);
                out.extend(bytes);
            }
            Field::Fixed(_, bytes) => {
                put(&mut out, number | if bytes.len() == 8 { 1 } else { 5 });
                out.extend(bytes);
            }
        }
    }
    out
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
