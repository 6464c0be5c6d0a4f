package record

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Counted returns entries in order without those set aside, run_resume entries and the background.
func Counted(entries []*echo.Entry) []*echo.Entry {
	var counted []*echo.Entry
	for _, e := range entries {
		counted, _ = count(counted, e)
	}
	return counted
}

// SetAside returns the numbers of the entries of a session that runs set aside when they resumed.
func SetAside(entries []*echo.Entry) map[uint64]bool {
	aside := map[uint64]bool{}
	var counted, dropped []*echo.Entry
	for _, e := range entries {
		counted, dropped = count(counted, e)
		for _, d := range dropped {
			aside[d.Seq] = true
		}
	}
	return aside
}

// Kept returns the entries that a run keeps when it resumes, in their order: those that count
// without the record of its stop or of the call that failed, and those of the background.
func Kept(entries []*echo.Entry) []*echo.Entry {
	kept := map[*echo.Entry]bool{}
	counted := Counted(entries)
	counted, _ = split(counted, resumptionOf(counted).SetAside())
	for _, e := range counted {
		kept[e] = true
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e *echo.Entry) bool { return !kept[e] && !e.Background() })
}

// count returns the entries that count once e is recorded, and those that no longer do. It may
// append to counted, and never changes what is in it.
func count(counted []*echo.Entry, e *echo.Entry) (now, dropped []*echo.Entry) {
	switch {
	case e.Background():
		return counted, nil
	case e.NodeType == echo.NodeResume:
		d, _ := echo.Read[echo.Resume](e) // one that cannot be read sets nothing aside
		return split(counted, d.SetAside)
	}
	return append(counted, e), nil
}

// split returns the entries without those with certain numbers, and those.
func split(entries []*echo.Entry, seqs []uint64) (others, those []*echo.Entry) {
	if len(seqs) == 0 {
		return entries, nil
	}
	set := make(map[uint64]bool, len(seqs))
	for _, seq := range seqs {
		set[seq] = true
	}
	others = make([]*echo.Entry, 0, len(entries))
	for _, e := range entries {
		if set[e.Seq] {
			those = append(those, e)
		} else {
			others = append(others, e)
		}
	}
	return others, those
}
