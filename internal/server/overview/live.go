package overview

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server/page"
)

// How often the list of runs is looked after, and how many of the sessions of this machine that changed last are.
const (
	watchEvery = 2 * time.Second
	mostOfNew  = 30
)

// watch sees that the list of runs has changed: sessions have come or gone, or the newest of this machine go on. It belongs to one
// stream.
type watch struct {
	archive *archive.Archive
	folder  time.Time // when sessions came or went last
	newest  []string
	looks   int // since newest was found
}

// findAgain is after how many looks the newest are found again: one that is older may go on.
const findAgain = 10

// stamp is another one when the list has changed.
func (w *watch) stamp() string {
	dir := config.SessionsDir(w.archive.Home)
	info, err := os.Stat(dir)
	if err != nil {
		return "" // there are no sessions
	}
	if at := info.ModTime(); !at.Equal(w.folder) || w.looks == findAgain {
		w.folder, w.newest, w.looks = at, newestIn(w.archive.Home), 0
	}
	w.looks++
	sum := fnv.New64a()
	fmt.Fprint(sum, w.folder.UnixNano())
	for _, id := range w.newest {
		s := archive.StampOf(w.archive, id)
		fmt.Fprint(sum, id, s.Size, s.Changed.UnixNano(), s.Running)
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// newestIn returns the ids of the sessions of a home that have changed last, sorted. One that has no journal yet is among them.
func newestIn(home string) (ids []string) {
	found, err := archive.Folders(home)
	if err != nil {
		return nil // the list itself says why
	}
	type changed struct {
		id string
		at time.Time
	}
	var all []changed
	for _, id := range found {
		info, err := os.Stat(archive.JournalPath(home, id))
		if err != nil {
			info, err = os.Stat(config.SessionDir(home, id))
		}
		if err == nil {
			all = append(all, changed{id, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b changed) int { return b.at.Compare(a.at) })
	for _, c := range all[:min(len(all), mostOfNew)] {
		ids = append(ids, c.id)
	}
	slices.Sort(ids)
	return ids
}

// live tells the script of the list that it has changed.
func (x *overview) live(v *page.Visit) error {
	w := &watch{archive: x.Archive}
	last := v.Query().Get("seen")
	looks := 0
	return v.Stream(func() (string, bool, error) {
		if looks++; looks%int(watchEvery/page.StreamEvery) != 1 {
			return "", false, nil
		}
		now := w.stamp()
		if now == last {
			return "", false, nil
		}
		last = now
		return "changed " + now, false, nil
	})
}
