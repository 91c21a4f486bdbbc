# Texts of /privacy.

cmd-privacy = 개인정보
    .description = 이 봇이 저장하는 내 정보와 삭제 방법
privacy-title = 내 정보
privacy-text = 저장하는 것: 혼자 푼 라운드와 답, 고른 언어, 그리고 질문마다 결과(답변, 인용, 답하지 않음)와 도움이 되었는지 여부뿐이에요. 질문 내용은 저장하지 않아요. 다른 회사로 보내는 것도 없어요.
privacy-keeps = 가이드가 답하지 못한 질문의 내용을 이름 없이 가이드 작성자를 위해 저장하는 데 동의하셨어요.
privacy-keeps-not = 질문 내용은 저장하지 않아요. 동의하시면 가이드가 답하지 못한 질문을 이름 없이 저장해 작성자가 빈 곳을 채울 수 있어요.
privacy-forgotten = 혼자 푼 라운드와 답, 선택을 삭제했어요. 라이브 라운드 결과는 수업에 속하므로 남아 있어요.
button-keep = 그런 질문은 저장하기
button-keep-not = 질문 저장하지 않기
button-forget = 내 정보 삭제
button-forget-sure = 정말 모두 삭제하기
