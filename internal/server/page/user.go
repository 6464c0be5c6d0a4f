package page

import (
	"cmp"
	"os/user"
)

// SystemUser returns the name of the user that this process runs as.
func SystemUser() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return cmp.Or(u.Username, u.Uid)
}
