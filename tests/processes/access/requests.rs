//! Every method of the protocol, and requests that name somebody at every place where one can.

use bytes::Bytes;
use prost::Message as _;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value,
};

/// Requests may hold themselves.
const DEPTH_MAX: usize = 6;

/// A method, and the places in its request that say who acts.
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) is_stream: bool,
    request: MessageDescriptor,
    /// The fields on the way to each name.
    pub(super) places: Vec<Vec<FieldDescriptor>>,
}

/// All methods of the descriptor.
pub(super) fn all() -> Vec<Asked> {
    let pool =
        DescriptorPool::decode(synod_proto::FILE_DESCRIPTOR_SET).expect("it is a descriptor");
    let mut all = Vec::new();
    for service in pool.services() {
        for method in service.methods() {
            let mut places = Vec::new();
            find(&pool, &method.input(), &mut Vec::new(), &mut places);
            all.push(Asked {
                method: format!("{}/{}", service.full_name(), method.name()),
                is_stream: method.is_client_streaming() || method.is_server_streaming(),
                request: method.input(),
                places,
            });
        }
    }
    all
}

/// Finds the places below a message whose texts name who acts.
fn find(
    pool: &DescriptorPool,
    message: &MessageDescriptor,
    way: &mut Vec<FieldDescriptor>,
    places: &mut Vec<Vec<FieldDescriptor>>,
) {
    let naming = pool
        .get_extension_by_name("synod.v1.naming")
        .expect("it is an option");
    if way.len() == DEPTH_MAX {
        return;
    }
    for field in message.fields() {
        way.push(field.clone());
        let named = field.options().get_extension(&naming).as_enum_number();
        // A member, or a holder.
        if matches!(named, Some(1 | 2)) {
            places.push(way.clone());
        }
        if let Kind::Message(inner) = field.kind()
            && !field.is_map()
        {
            find(pool, &inner, way, places);
        }
        way.pop();
    }
}

impl Asked {
    /// A request that names `name` at all places that can be said together, and `other` at one of them.
    pub(super) fn request(&self, name: &str, other: Option<(usize, &str)>) -> Bytes {
        let mut request = DynamicMessage::new(self.request.clone());
        for place in &self.places {
            put(&mut request, place, name);
        }
        if let Some((place, other)) = other {
            put(&mut request, &self.places[place], other);
        }
        request.encode_to_vec().into()
    }

    /// A place as a path.
    pub(super) fn path(&self, place: usize) -> String {
        let names = self.places[place]
            .iter()
            .map(|field| field.name().to_owned());
        names.collect::<Vec<_>>().join(".")
    }
}

/// Puts a text at a place, below messages that are made if they are not there.
fn put(message: &mut DynamicMessage, way: &[FieldDescriptor], text: &str) {
    let (field, rest) = way.split_first().expect("a place has a field");
    if rest.is_empty() {
        message.set_field(field, Value::String(text.to_owned()));
        return;
    }
    let Kind::Message(inner) = field.kind() else {
        panic!("a name is below a message")
    };
    let is_list = field.cardinality() == Cardinality::Repeated;
    let present = message.get_field(field).into_owned();
    let present = match present {
        Value::List(items) => items.into_iter().next(),
        one if message.has_field(field) => Some(one),
        _ => None,
    };
    let mut below = match present {
        Some(Value::Message(below)) => below,
        _ => DynamicMessage::new(inner),
    };
    put(&mut below, rest, text);
    let below = Value::Message(below);
    message.set_field(
        field,
        if is_list {
            Value::List(vec![below])
        } else {
            below
        },
    );
}
