package redaction

import (
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

// BrokenError says that a session could not be read any more if a message were redacted.
type BrokenError struct {
	Hash  echo.Hash
	Place string // what could not be read
	Err   error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("message %s is not redacted, and nothing has changed: %s could not be read afterwards: %v", e.Hash, e.Place, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// check reads everything back before anything is written.
func (p *Plan) check(before *journal.Recording, after []*echo.Entry) error {
	if err := readCascade(&p.Header); err != nil && readCascade(&before.Header) == nil {
		return &BrokenError{Hash: p.Redaction.Hash, Place: "the cascade of the session", Err: err}
	}
	for i, e := range after {
		if e == before.Entries[i] {
			continue
		}
		if err := readEntry(e, p.Header.Redacted()); err != nil && readEntry(before.Entries[i], p.Header.Redacted()) == nil {
			return &BrokenError{Hash: p.Redaction.Hash, Place: fmt.Sprintf("entry %d (%s)", e.Seq, e.Key), Err: err}
		}
	}
	return nil
}

// readCascade reads a cascade that has begun to run and what it reaches, whatever tools it was given.
func readCascade(h *journal.Header) error {
	c, found, err := library.Read("cascade", h.Cascade, h.Library, cascade.Known{LaterTool: func(string, cascade.Diagnostic) {}})
	switch {
	case err != nil:
		return err
	case c == nil && len(found) > 0:
		return fmt.Errorf("it is no valid cascade: %s", found[0].Message)
	}
	return nil
}

func readEntry(e *echo.Entry, redacted []echo.Hash) error {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return err
	}
	var again echo.Entry
	if err := json.Unmarshal(line, &again); err != nil {
		return err
	}
	if err := again.CheckKey(); err != nil {
		return err
	}
	if err := again.CheckRedacted(redacted); err != nil {
		return err
	}
	if m := again.Message; m != nil && m.Hash() != again.ContentHash {
		return fmt.Errorf("the content does not match its hash %s", again.ContentHash)
	}
	return readData(&again)
}

func readData(e *echo.Entry) error {
	nodes := map[echo.NodeType]func(*echo.Entry) error{
		echo.NodeRunStart: reads[echo.RunStart], echo.NodeRunEnd: reads[echo.RunEnd], echo.NodePhaseStart: reads[echo.PhaseStart],
		echo.NodePhaseEnd: reads[echo.PhaseEnd], echo.NodeVerdict: reads[echo.Verdict], echo.NodeState: reads[echo.State],
		echo.NodeRoute: reads[echo.Route], echo.NodeCallout: reads[echo.CalloutMark], echo.NodeWarning: reads[echo.Warning],
		echo.NodeResume: reads[echo.Resume], echo.NodeModelCall: reads[echo.ModelCall], echo.NodeSelection: reads[echo.Carry],
		echo.NodeGuard: reads[echo.Guard], echo.NodeInter: reads[echo.InterSelection], echo.NodeMenu: reads[echo.Menu],
		echo.NodeHandoff: reads[echo.Handoff], echo.NodeChildStart: reads[echo.ChildStart], echo.NodeChildEnd: reads[echo.ChildEnd],
		echo.NodeCandidate: reads[echo.Candidate], echo.NodeBallot: reads[echo.Ballot], echo.NodeChoice: reads[echo.Choice],
		echo.NodeWait: reads[echo.Wait], echo.NodeAnswer: reads[echo.Answer],
	}
	values := map[echo.StepKind]func(*echo.Entry) error{
		echo.StepClock: reads[echo.Clock], echo.StepBackground: reads[echo.BackgroundTotals], echo.StepIdle: reads[echo.Idle],
		echo.StepSimilarity: reads[echo.Similarity], echo.StepCards: reads[echo.Findings], echo.StepFacts: reads[echo.ModelFacts],
		echo.StepStopped: reads[echo.Stopped], echo.StepCascade: reads[echo.FoundCascade],
		echo.StepSeed: reads[echo.Seed], echo.StepWinners: reads[echo.WinningRewrites], echo.StepRoom: reads[echo.Room],
		echo.StepFire: reads[echo.Fired], echo.StepArtifact: reads[echo.Artifact], echo.StepFound: reads[echo.ArtifactsFound],
		echo.StepAudible: reads[echo.Audible], echo.StepChange: reads[echo.ViewChange], echo.StepBank: reads[echo.MemoryStart], echo.StepMemory: reads[echo.MemoryCall],
		echo.StepMemos: reads[echo.MemosStart], echo.StepMemo: reads[echo.MemoCall], echo.StepBrought: reads[echo.MemosBrought],
		echo.StepProject: reads[echo.ProjectFile],
	}
	read := nodes[e.NodeType]
	if e.NodeType == echo.NodeValue {
		p := e.Key.Path()
		read = values[p.Last().Kind]
	}
	if read == nil {
		return nil
	}
	return read(e)
}

func reads[T echo.Payload](e *echo.Entry) error {
	_, err := echo.Read[T](e)
	return err
}
