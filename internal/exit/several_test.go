package exit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeveral(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{nil, OK},
		{[]int{OK, OK}, OK},
		{[]int{OK, Waiting}, Waiting},
		{[]int{Waiting, Failed, OK}, Failed},
		{[]int{Waiting, Provider}, Failed},
		{[]int{Storage}, Failed},
		{[]int{Usage, Waiting}, Failed},
		{[]int{Interrupted}, Failed},
		{[]int{Failed, Waiting, Budget}, Budget},
		{[]int{Budget, Provider}, Budget},
	} {
		require.Equal(t, c.want, Several(c.codes), "%v", c.codes)
	}
}
