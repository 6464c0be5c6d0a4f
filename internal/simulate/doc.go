// Package simulate replays recorded conversations under context policies, without a model: what
// would be sent, shared with a prefix cache, paid, and lost. Views are those of
// [autocontext.Builder], measured here from the messages as sent.
package simulate
