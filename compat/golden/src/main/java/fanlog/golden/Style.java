package fanlog.golden;

/** What kind of values a message is filled with. */
enum Style {
    /** What a new message holds. */
    DEFAULT,
    /** The smallest numbers; null where it is allowed, empty otherwise. */
    LEAST,
    /** The largest numbers, strings and bytes past what one byte of a varint counts, one element in each array. */
    MOST,
    /** Outer arrays of more elements than one byte of a varint counts, and little else. */
    MANY,
    /** Anything, as a seed draws it. */
    RANDOM,
    /** Anything, as another seed draws it. */
    RANDOM2,
}
