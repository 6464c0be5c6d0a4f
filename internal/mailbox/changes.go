package mailbox

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Changes are what persons take out of the views of a session, in its mailbox: numbered from 1, without gaps. Every branch of a run
// takes every one, so that none is claimed.
type Changes struct{ Box }

// Change leaves a change under its number. The error is [fs.ErrExist] when there is another one of that number: somebody else was
// faster.
func (b Changes) Change(c *echo.ViewChange) error { return b.write(changeFile(c.Number), c) }

// After returns the change that follows the one of a number, nil when there is none.
func (b Changes) After(number int) (*echo.ViewChange, error) { return b.read(changeFile(number + 1)) }

// All returns the changes in their order, up to the first that is not there or cannot be read, which is the error.
func (b Changes) All() (all []*echo.ViewChange, err error) {
	for {
		c, err := b.After(len(all))
		if c == nil || err != nil {
			return all, err
		}
		all = append(all, c)
	}
}

func (b Changes) read(file string) (*echo.ViewChange, error) {
	var c echo.ViewChange
	path, err := b.decode(file, &c)
	switch {
	case path == "" || err != nil:
		return nil, err
	case file != changeFile(c.Number):
		return nil, fmt.Errorf("read %s: it has the number of another file", path)
	case c.At.IsZero():
		return nil, fmt.Errorf("read %s: it has no time", path)
	case !slices.Contains([]echo.ViewAction{echo.ViewUndo, echo.ViewDrop, echo.ViewRemove, echo.ViewRestore, echo.ViewRebuild}, c.Action):
		return nil, fmt.Errorf("read %s: it says nothing to do", path)
	}
	return &c, nil
}

func changeFile(number int) string { return fmt.Sprintf("change-%06d.json", number) }
