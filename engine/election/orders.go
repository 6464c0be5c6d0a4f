package election

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
)

// Orders returns the two orders in which the candidates are shown in a pair of ballots. Every order is equally likely
// to be the first, by SHA-256 of the seed and the pair; the second is its reverse.
func (e *Election) Orders(pair int) (first, second []int) {
	first = e.Numbers()
	d := draws{seed: strconv.Itoa(len(e.seed)) + ":" + e.seed + ":" + strconv.Itoa(pair) + ":"}
	for i := len(first) - 1; i > 0; i-- {
		j := d.below(uint64(i) + 1)
		first[i], first[j] = first[j], first[i]
	}
	second = slices.Clone(first)
	slices.Reverse(second)
	return first, second
}

// draws are random numbers that follow from a seed.
type draws struct {
	seed  string
	drawn int
	block [sha256.Size]byte
	rest  []byte
}

// below returns a number from 0 to n-1, each equally likely: what would make some likelier is drawn again.
func (d *draws) below(n uint64) uint64 {
	over := -n % n // 2^64 mod n
	for {
		if v := d.next(); v >= over {
			return v % n
		}
	}
}

func (d *draws) next() uint64 {
	if len(d.rest) == 0 {
		d.block = sha256.Sum256([]byte(d.seed + strconv.Itoa(d.drawn)))
		d.drawn++
		d.rest = d.block[:]
	}
	v := binary.BigEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return v
}
