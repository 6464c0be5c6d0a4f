package effecttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Subject is an implementation under test, with the log that it records in.
type Subject struct {
	// New returns effects that touch the world and record in a log, without the secrets of its
	// mask. recorded are the outcomes of the contract's calls, for one that answers from a
	// recording.
	New func(t testing.TB, w *World, record effect.Writer, recorded []*echo.Entry) effect.Effects
	// Asks says that the world is asked, and not a recording.
	Asks bool
	// Records says that outcomes are recorded in the log. A replay finds them recorded.
	Records bool
}

// Test runs the contract.
func Test(t *testing.T, s Subject) {
	for _, c := range contract {
		if s.has(c) {
			t.Run(c.name, func(t *testing.T) { c.run(t, s.bench(t)) })
		}
	}
}

// clause is a part of the contract, for all subjects or for those that ask the world or record.
type clause struct {
	name          string
	asks, records bool
	run           func(testing.TB, *bench)
}

// contract has a clause for each sentence of [effect.Effects]. A test breaks each of them.
var contract = []clause{
	{name: "a model's answer is recorded before it is seen", run: answer},
	{name: "an answer is parsed before it becomes an outcome", run: parsedAnswer},
	{name: "a request is not changed", run: unchangedRequest},
	{name: "a request leaves whole", asks: true, run: wholeRequest},
	{name: "what is recorded is the whole outcome", run: wholeOutcomes},
	{name: "secrets are not recorded", run: secrets},
	{name: "a request for another purpose has no secrets", asks: true, run: otherPurpose},
	{name: "a tool is recorded as begun once, when it may do harm", asks: true, records: true, run: begunOnce},
	{name: "a model's failure is an outcome", run: modelFailure},
	{name: "an error of a model that is no ModelError is an outcome", run: brokenModel},
	{name: "the time limit of a model is an outcome", run: slowModel},
	{name: "a tool's result is recorded before it is seen", run: toolResult},
	{name: "an error of a tool is a result", run: brokenTool},
	{name: "a reading is returned as it is recorded", run: recordedReading},
	{name: "a reading of nothing is not recorded", run: noReading},
	{name: "a reading is taken once, and not in a replay", run: takenOnce},
	{name: "many at once", run: manyAtOnce},
	{name: "nothing comes of a call whose context had ended", run: endedBefore},
	{name: "the end of the context is no outcome", asks: true, run: endedMeanwhile},
	{name: "what the world says is an outcome although the context has ended", asks: true, run: lateOutcome},
	{name: "an outcome that cannot be recorded ends the run", records: true, run: recordFails},
	{name: "a tool does not begin when that cannot be recorded", asks: true, run: startFails},
	{name: "nothing leaves when the record cannot be made durable", asks: true, run: syncFails},
	{name: "the record is durable before a request leaves", asks: true, run: safeFirst},
	{name: "how a wait ends is recorded before it is seen", run: awaited},
	{name: "of a wait without an answer nothing is recorded", asks: true, run: awaitedInSilence},
	{name: "a wait is durable before anybody can answer it", asks: true, run: awaitedSafely},
	{name: "an answer that was not recorded is there again", asks: true, records: true, run: awaitedAgain},
	{name: "secrets of an answer are not recorded", run: awaitedSecret},
	{name: "nobody is asked when the context has ended", asks: true, run: awaitedAfterEnd},
}

func (s Subject) has(c clause) bool { return (s.Asks || !c.asks) && (s.Records || !c.records) }

// bench is one implementation at work.
type bench struct {
	Subject
	world   *World
	disk    *Disk
	effects effect.Effects
}

func (s Subject) bench(t testing.TB) *bench {
	t.Helper()
	b := &bench{Subject: s, world: &World{}, disk: &Disk{}}
	b.effects = s.New(t, b.world, effect.Writer{Log: echo.NewLog("s", nil, b.disk), Mask: mask{}}, recordings(t))
	return b
}

// outcome returns the only entry that a call left, nil when the subject does not record.
func (b *bench) outcome(t testing.TB, node echo.NodeType, key echo.Key) *echo.Entry {
	t.Helper()
	if !b.Records {
		require.Empty(t, b.disk.Entries(), "nothing is recorded again")
		return nil
	}
	var found []*echo.Entry
	for _, e := range b.disk.Entries() {
		if e.NodeType == node && e.Key == key {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1, "entries of %s", key)
	require.Equal(t, "c", found[0].CascadeID)
	b.noSecrets(t)
	require.Zero(t, b.disk.Unflushed(), "the death of the process would take entries of calls that have returned")
	return found[0]
}

// asked holds how often the world did something.
func (b *bench) asked(t testing.TB, what string) {
	t.Helper()
	want := 0
	if b.Asks {
		want = 1
	}
	require.Equal(t, want, b.world.Done(what), "how often the world was asked %q", what)
}

// nothingCame holds that there is no outcome in the record: tools may have begun.
func (b *bench) nothingCame(t testing.TB) {
	t.Helper()
	for _, e := range b.disk.Entries() {
		require.Equal(t, echo.NodeToolStart, e.NodeType, "nothing came of %s", e.Key)
	}
}

// model asks a model, and holds that an error comes without an answer.
func (b *bench) model(t testing.TB, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	t.Helper()
	resp, err := b.effects.Model(t.Context(), key, req)
	if err != nil {
		require.Nil(t, resp)
	}
	return resp, err
}

// tool runs a tool; what it does is its name.
func (b *bench) tool(t testing.TB, key echo.Key, name string) (*echo.Message, error) {
	t.Helper()
	return b.effects.Tool(t.Context(), key, spec(name), Use(name, name))
}

// value takes a reading.
func (b *bench) value(t testing.TB, key echo.Key, reading echo.Payload) (string, error) {
	t.Helper()
	raw, err := b.effects.Value(t.Context(), key, site, func() echo.Payload { return reading })
	return string(raw), err
}
