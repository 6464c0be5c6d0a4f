package effect

import "github.com/windlass-run/windlass/echo"

// answerReading makes an entry say what was recorded, if it fits the reading taken now: selections
// name messages by hash, and as many are the same ones in other words.
func answerReading(e, was *echo.Entry, now echo.Payload) {
	switch now := now.(type) {
	case echo.InterSelection:
		if answer, err := echo.Read[echo.InterSelection](was); err == nil && fitSelection(&answer, &now) {
			e.Set(answer)
		}
	case echo.Findings:
		if answer, err := echo.Read[echo.Findings](was); err == nil && fitFindings(&answer, &now) {
			e.Set(answer)
		}
	default:
		e.Data = was.Data
	}
}

// fitSelection gives a recorded selection's groups their hashes of now, if there are as many.
func fitSelection(was, now *echo.InterSelection) bool {
	if len(was.Scores) != len(now.Scores) {
		return false
	}
	for i := range was.Scores {
		was.Scores[i].ID = now.Scores[i].ID
	}
	was.Anchors = now.Anchors
	return true
}

func fitFindings(was, now *echo.Findings) bool {
	if len(was.Found) != len(now.Found) {
		return false
	}
	for i := range was.Found {
		cards := was.Found[i].Cards
		if len(cards) != len(now.Found[i].Cards) {
			return false
		}
		for j := range cards {
			cards[j].Hash = now.Found[i].Cards[j].Hash
		}
	}
	return true
}
