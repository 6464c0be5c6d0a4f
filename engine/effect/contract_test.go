package effect_test

import (
	"testing"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	live := func(_ testing.TB, w *effecttest.World, record effect.Writer, _ []*echo.Entry) effect.Effects {
		return effect.NewLive(w, w, record, nil).Answers(w)
	}
	for name, s := range map[string]effecttest.Subject{
		"live": {New: live, Asks: true, Records: true},
		"answered": {
			New: func(_ testing.TB, _ *effecttest.World, record effect.Writer, recorded []*echo.Entry) effect.Effects {
				return effect.NewAnswered(record, recorded)
			},
			Records: true,
		},
		"replayed": {New: func(_ testing.TB, _ *effecttest.World, record effect.Writer, recorded []*echo.Entry) effect.Effects {
			return effect.NewRecorder(effect.Options{Recording: recorded, Mask: record.Mask})
		}},
		"resumed where the recording ends": {
			New: func(t testing.TB, w *effecttest.World, record effect.Writer, _ []*echo.Entry) effect.Effects {
				return effect.NewRecorder(effect.Options{Log: record.Log, Mask: record.Mask, Effects: live(t, w, record, nil)})
			},
			Asks: true, Records: true,
		},
		"resumed where all is recorded": {New: func(t testing.TB, w *effecttest.World, record effect.Writer, recorded []*echo.Entry) effect.Effects {
			return effect.NewRecorder(effect.Options{Log: record.Log, Mask: record.Mask, Recording: recorded, Effects: live(t, w, record, nil)})
		}},
		"foreign": {
			New: func(t testing.TB, w *effecttest.World, record effect.Writer, _ []*echo.Entry) effect.Effects {
				return effecttest.StartForeign(t, w, w, w, record)
			},
			Asks: true, Records: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			effecttest.Test(t, s)
		})
	}
}
