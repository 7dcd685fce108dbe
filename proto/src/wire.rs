//! The wire form of values, and the tables of the messages: both conversions of a message follow from its one table.
//!
//! Reading finds all faults of a message at once, each with its path in the JSON form, and the code behind it relies on
//! that. Writing never fails.

mod base;

use synod_model::{Violation, Violations};

/// A value with a wire form: a field of the type `P` in the generated code of the protocol.
///
/// | field | value |
/// |---|---|
/// | text | a value that is parsed from it; an option: an empty text is `None` |
/// | number | a value with that number; a span in milliseconds; a variant of an enum, whose zero is never sent |
/// | optional | an option |
/// | message | a struct by its table; where it is optional, it must be there unless its table says otherwise |
/// | list | a list or a set of values |
pub trait Wire<P>: Sized {
    /// The value as it is sent.
    fn to_wire(&self) -> P;

    /// The value that was sent.
    ///
    /// # Errors
    ///
    /// Every rule that it breaks, by the path below it.
    fn of_wire(pb: P) -> Result<Self, Violations>;
}

/// Reads a field of this name in the protocol's code. Its faults are named by its path in the JSON form.
pub fn read<T>(found: &mut Violations, field: &str, value: Result<T, Violations>) -> Option<T> {
    match value {
        Ok(value) => Some(value),
        Err(faults) => {
            found.extend_at(json_name(field), faults);
            None
        }
    }
}

/// The name of a field in the JSON form.
fn json_name(field: &str) -> String {
    let mut words = field.trim_start_matches("r#").split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        name + &head.to_ascii_uppercase() + tail
    })
}

/// Reads the fields of a message into variables, or ends with all that is wrong with them: `id = name` reads the field
/// `name` by the value's own form, `id = name => parse(...)` by an expression.
#[macro_export]
macro_rules! read_fields {
    ($pb:ident, $found:ident; $($value:ident = $field:ident $(=> $parse:expr)?),* $(,)?) => {
        $(let $value = $crate::wire::read(
            &mut $found, stringify!($field), $crate::read_fields!(@value $pb.$field $(=> $parse)?),
        );)*
        $(let Some($value) = $value else {
            return Err($found);
        };)*
    };
    (@value $pb:ident.$field:ident) => {
        $crate::wire::Wire::of_wire($pb.$field)
    };
    (@value $pb:ident.$field:ident => $parse:expr) => {
        $parse.map_err(synod_model::Violations::from)
    };
}

/// The tables of messages: for each the message, the struct, and the message's field for each field of the struct.
/// After `or` comes the value of a field that is left out, after `by` the module that reads and writes it, after `=>`
/// the check of the whole. Two fields of the struct may be one field of the message, and fields after `unsaid` are not
/// in the message.
///
/// A message that is left out is refused by the rule behind the struct's name, or read as one without fields:
/// `default`.
///
/// One table may be of several messages that say the same, `v1::One, v1::Other = Struct { ... }`; it then stands alone.
#[macro_export]
macro_rules! messages {
    ($(
        $pb:ty = $of:ty $(: $rule:literal)? $(, $default:ident)? {
            $(($one:ident, $other:ident) = $both:ident,)?
            $($value:ident = $field:ident $(by $way:ident)? $(or $instead:expr)?),* $(,)?
            $(; ..$rest:expr)?
            $(; unsaid $($unsaid:ident),+)?
        } $(=> $check:ident)?
    )*) => { $(
        impl $crate::wire::Wire<$pb> for $of {
            fn to_wire(&self) -> $pb {
                type Message = $pb;
                Message {
                    $($both: $crate::wire::Wire::to_wire(&(self.$one.clone(), self.$other.clone())),)?
                    $($field: $crate::messages!(@write &self.$value $(, by $way)? $(, or $instead)?),)*
                    $(..$rest)?
                }
            }

            fn of_wire(pb: $pb) -> Result<Self, synod_model::Violations> {
                let mut found = synod_model::Violations::new();
                $(let both = $crate::wire::read(
                    &mut found, stringify!($both), $crate::wire::Wire::of_wire(pb.$both),
                );)?
                $(let $value = $crate::wire::read(
                    &mut found, stringify!($field),
                    $crate::messages!(@read pb.$field $(, by $way)? $(, or $instead)?),
                );)*
                $(let Some(($one, $other)) = both else {
                    return Err(found);
                };)?
                $(let Some($value) = $value else {
                    return Err(found);
                };)*
                let read = Self {
                    $($one, $other,)?
                    $($value,)*
                    $($($unsaid: Default::default(),)+)?
                };
                $(found.extend_at("", read.$check());)?
                $crate::wire::sound(read, found)
            }
        }

        $crate::messages!(@left_out $pb, $of $(: $rule)? $(, $default)?);

        impl From<&$of> for $pb {
            fn from(value: &$of) -> Self {
                $crate::wire::Wire::to_wire(value)
            }
        }

        impl TryFrom<$pb> for $of {
            type Error = synod_model::Violations;

            fn try_from(pb: $pb) -> Result<Self, synod_model::Violations> {
                $crate::wire::Wire::of_wire(pb)
            }
        }
    )* };
    ($pb:ty, $($others:ty),+ = $of:ident $table:tt) => {
        $crate::messages! { $pb = $of $table }
        $($crate::messages! { $others = $of $table })+
    };
    (@write $value:expr) => { $crate::wire::Wire::to_wire($value) };
    (@write $value:expr, or $instead:expr) => { Some($crate::wire::Wire::to_wire($value)) };
    (@write $value:expr, by $way:ident) => { $way::write($value) };
    (@read $pb:ident.$field:ident) => { $crate::wire::Wire::of_wire($pb.$field) };
    (@read $pb:ident.$field:ident, or $instead:expr) => {
        $pb.$field.map_or(Ok($instead), $crate::wire::Wire::of_wire)
    };
    (@read $pb:ident.$field:ident, by $way:ident) => { $way::read($pb.$field) };
    (@left_out $pb:ty, $of:ty) => {};
    (@left_out $pb:ty, $of:ty: $rule:literal) => {
        impl $crate::wire::Wire<Option<$pb>> for $of {
            fn to_wire(&self) -> Option<$pb> {
                Some($crate::wire::Wire::to_wire(self))
            }

            fn of_wire(pb: Option<$pb>) -> Result<Self, synod_model::Violations> {
                $crate::wire::Wire::of_wire($crate::wire::required(pb, $rule)?)
            }
        }
    };
    (@left_out $pb:ty, $of:ty, default) => {
        impl $crate::wire::Wire<Option<$pb>> for $of {
            fn to_wire(&self) -> Option<$pb> {
                Some($crate::wire::Wire::to_wire(self))
            }

            fn of_wire(pb: Option<$pb>) -> Result<Self, synod_model::Violations> {
                $crate::wire::Wire::of_wire(pb.unwrap_or_default())
            }
        }
    };
}

/// Implements both conversions of enums whose zero is never sent. A field of another number is told what it may be.
#[macro_export]
macro_rules! wire_enums {
    ($($pb:ty = $of:ty { $($variant:ident = $sent:ident),* $(,)? })*) => { $(
        impl $crate::wire::Wire<i32> for $of {
            fn to_wire(&self) -> i32 {
                type Sent = $pb;
                let sent = match self { $(Self::$variant => Sent::$sent,)* };
                sent.into()
            }

            fn of_wire(pb: i32) -> Result<Self, synod_model::Violations> {
                type Sent = $pb;
                match Sent::try_from(pb) {
                    $(Ok(Sent::$sent) => Ok(Self::$variant),)*
                    Ok(Sent::Unspecified) | Err(_) => {
                        let known = [$(Sent::$sent.as_str_name()),*];
                        Err($crate::wire::unknown(pb, &known))
                    }
                }
            }
        }
    )* };
}

/// The value of a field that must be set.
pub fn required<T>(field: Option<T>, rule: &str) -> Result<T, Violation> {
    field.ok_or_else(|| Violation::required(rule))
}

/// The value, if nothing was found to be wrong.
pub fn sound<T>(value: T, found: Violations) -> Result<T, Violations> {
    if found.is_empty() {
        Ok(value)
    } else {
        Err(found)
    }
}

/// The fault of a number of an enum that is not one of those that this release knows.
#[doc(hidden)]
#[must_use]
pub fn unknown(number: i32, known: &[&str]) -> Violations {
    let rule = format!("must be one of {}", known.join(", "));
    match number {
        0 => Violation::required(rule).into(),
        number => Violation::invalid(&number.to_string(), rule).into(),
    }
}
