package archive

import "fmt"

// Unreadable is one error for the reasons why journals cannot be read; nil when there is none.
func Unreadable(found []error) error {
	switch len(found) {
	case 0:
		return nil
	case 1:
		return found[0]
	}
	return fmt.Errorf("%d journals cannot be read, the first: %w", len(found), found[0])
}
