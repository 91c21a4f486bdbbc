# Texts of Studyhall, Korean: the interview bank. Keys and variables are those of en/interview.ftl.
# Sentences end in 해요체, as in Discord's own Korean. No particle follows a variable whose last sound is unknown.

cmd-interview = 면접
    .description = 서술형 면접 문제를 연습해요. 추가 질문, 모범 답안, 자가 점검이 있어요
opt-interview-part = 분야
    .description = 문제를 뽑을 분야 (비워 두면 전체에서)

interview-title = { $title } · 문제 { $number }/{ $total }
interview-probe = 추가 질문 { $number }/{ $total }
interview-footer = 난이도 { $stars } · 만점 { $points }점
interview-yours = 내 답변
interview-length = { $least }~{ $most }자. 나에게만 보이고 어디에도 저장되지 않아요.
interview-check = 자가 점검: { $possible }점 중 { $points }점
interview-check-note = 내 답변에 담긴 항목을 고르세요. 아무도 채점하지 않고, 아무것도 저장하지 않아요.
interview-tick = 내 답변에 담긴 항목 고르기
interview-points = { $points }점
interview-reference = 모범 답안
interview-rubric = **평가 기준** · 모두 { $points }점
interview-page = { $total }쪽 중 { $number }쪽
interview-no-reference = 이 문제에는 아직 모범 답안이 없어요.
interview-none = 아직 면접 문제가 없어요.
button-interview-write = 답변 쓰기
button-interview-again = 다시 쓰기
button-interview-probe = 추가 질문
button-interview-reference = 모범 답안 보기
help-interview = **/면접** – 서술형 문제를 연습해요. 답을 쓰고, 추가 질문을 받고, 모범 답안과 비교해 보세요.
