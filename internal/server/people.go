package server

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/waits"
)

func (s *Server) listWaits(r *request) error {
	session := r.URL.Query().Get("session")
	if session != "" && !journal.IsSessionID(session) {
		return NewProblem(BadRequest, "session=ID with the whole id of a session", "session=%s is no id of a session", shorten(session))
	}
	list, err := s.people.List(r.Context(), session)
	return r.answer(http.StatusOK, append([]*Wait{}, list...), err)
}

func (s *Server) getWait(r *request) error {
	w, err := s.people.Get(r.Context(), r.PathValue("id"))
	return r.answer(http.StatusOK, w, err)
}

// getImage sends the bytes of an image.
func getImage(s *Server, r *request) error {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return err // the description lets digits through only
	}
	x, err := s.people.Image(r.Context(), r.PathValue("id"), n)
	if none := new(waits.NoImageError); errors.As(err, &none) {
		return NewProblem(NotFound, tryImages, "%s", none.Error())
	}
	if err != nil {
		return err
	}
	h := r.Header()
	h.Set("Content-Type", x.Type)
	h.Set("Content-Disposition", `attachment; filename="`+x.File+`"`)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	_, _ = r.ResponseWriter.Write(x.Data) // a client that went away is told nothing
	return nil
}

func (s *Server) answerWait(r *request) error {
	var body AnswerRequest
	if err := s.readBody(r, &body); err != nil {
		return err
	}
	r.said = true
	answered, err := s.people.Answer(r.Context(), r.caller, r.PathValue("id"), &body)
	return r.answer(http.StatusOK, answered, err)
}

func sayAudible(s *Server, r *request) error {
	var body AudibleRequest
	if err := s.readBody(r, &body); err != nil {
		return err
	}
	found, err := s.record.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	r.said = true
	said, err := s.people.Say(r.Context(), r.caller, found.ID, &body)
	return r.answer(http.StatusAccepted, said, err)
}

func (s *Server) sendSignal(r *request) error {
	var body SignalRequest
	if err := s.readBody(r, &body); err != nil {
		return err
	}
	r.said = true
	sent, err := s.people.Signal(r.Context(), r.caller, &body)
	return r.answer(http.StatusAccepted, sent, err)
}
