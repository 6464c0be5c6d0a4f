package mailbox

import (
	"cmp"
	"fmt"
	"strings"
)

// maxID is how long the id of a letter may be that a client gives.
const maxID = 64

// TryLetter says what to do about an id that [CheckLetter] refuses.
const TryLetter = "an id such as release-7, or none for a new one"

// CheckLetter returns why a client may not give a letter this id. It is part of the name of a file.
func CheckLetter(id string) error {
	if id == "" || len(id) > maxID || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%.80q is no id of a letter: it has 1 to %d of a to z, 0 to 9 and -", id, maxID)
	}
	return nil
}

// OtherLetterError says that the id of a letter is that of another one.
type OtherLetterError struct {
	ID    string
	First *Letter // nil: it is no more there
}

func (e *OtherLetterError) Error() string {
	if e.First == nil {
		return fmt.Sprintf("the letter %s was another one", e.ID)
	}
	return fmt.Sprintf("the letter %s was left already, and says something else: the signal %.200q, sent by %s (%s) at %s",
		e.ID, e.First.Signal, cmp.Or(e.First.By, "somebody"), e.First.Via, e.First.At.Local().Format("2006-01-02 15:04:05"))
}
