package echo

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// The lengths of the id of a session: a time, and what tells sessions of one time apart, in
// characters of Crockford's base32.
const (
	idTime   = 10
	idUnique = 16
)

var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// ChildSession returns the id of the session of a child, which follows from that of its parent and
// the key under which it begins. Where the parent's begins with a time, the child's begins with the
// same.
func ChildSession(parent string, key Key) string {
	sum := sha256.Sum256([]byte(parent + "\n" + key.String()))
	unique := crockford.EncodeToString(sum[:])
	time := "0" + unique[idUnique:idUnique+idTime-1]
	if len(parent) == idTime+idUnique && strings.Trim(parent, "0123456789abcdefghjkmnpqrstvwxyz") == "" {
		time = parent[:idTime]
	}
	return time + unique[:idUnique]
}
