# Studyhall 문구, 한국어: 문제은행 가져오기와 내보내기. 파일 보고서는 코드와 형식 이름을 인용하므로 어느 언어에서나 영어예요. 문장은 다른 파일처럼 해요체로 끝나요.

cmd-content = 콘텐츠
    .description = 이 서버의 문제은행: 가져오기, 내보내기, 해설 (서버 관리자용)
cmd-content-import = 가져오기
    .description = 문제은행 파일을 읽어 내용을 확인하고 이 서버의 초안으로 보관해요
cmd-content-export = 내보내기
    .description = 퀴즈를 다른 프로그램의 파일로 내보내고, 담지 못한 내용도 알려 줘요
cmd-content-list = 목록
    .description = 이 서버의 초안 목록
cmd-content-remove = 삭제
    .description = 이 서버의 초안을 삭제해요
cmd-content-explain = 해설
    .description = 가이드를 바탕으로 해설을 제안받고, 쓸지 말지는 직접 정해요
opt-content-file = 파일
    .description = GIFT, Moodle XML, QTI, Kahoot, CSV, Anki, Markdown, Aiken 등, 최대 8 MB
opt-content-format = 형식
    .description = 파일 형식 (비워 두면 내용을 보고 판단해요)
opt-content-target = 형식
    .description = 어느 프로그램용으로 내보낼지
opt-content-language = 언어
    .description = 한 언어만 담는 형식일 때 쓸 언어
opt-content-draft = 퀴즈
    .description = 어느 초안인지
opt-content-guide = 가이드
    .description = 해설의 근거로 삼을 가이드

# 가져오기
content-title = { $file } · { $format }
content-counts = 문제 { $read }개 가운데 **{ $imported }개**를 쓸 수 있어요.
content-problems = 제외: { $errors } · 바뀌었거나 확인 필요: { $warnings } · 참고: { $notes }
content-nothing = 이 파일에서 보관할 수 있는 내용이 없어요. 이유는 보고서에 줄별로 적혀 있어요.
content-missing = 아직 해설이 없는 문제: { $count }개
content-unasked = 라운드에서 출제되지 않는 문제: { $count }개 (서술형이거나 입력 창에 다 들어가지 않음)
content-replaces = “{ $title }”(이)라는 이름의 초안이 이미 있어요 (버전 { $version }). **초안으로 보관**을 누르면 이 파일이 다음 버전이 돼요.
content-line = { $line }번째 줄
content-whole = 파일 전체
content-more = 그 밖에 { $count }건 더
content-button-keep = 초안으로 보관
content-button-apart = 둘 다 보관
content-button-discard = 버리기
content-kept = 보관했어요: **{ $title }**, 버전 { $version }, 문제 { $questions }개. /퀴즈 풀기로 이 서버에서만 풀 수 있어요.
content-kept-missing = 아직 해설이 없는 문제가 { $count }개 있어요. /콘텐츠 해설로 가이드에서 해설을 제안받을 수 있어요.
content-button-try = 풀어 보기
content-discarded = 버렸어요. 아무것도 보관되지 않았어요.
content-draft-mark = 초안
content-unexplained = 아직 해설이 없어요.

# 목록, 삭제
content-list-title = 이 서버의 초안
content-listed = **{ $title }** · 버전 { $version } · 문제 { $questions }개, 해설 없음 { $missing }개 · { $date }
content-none = 아직 없어요. /콘텐츠 가져오기로 가져올 수 있어요.
content-removed = 목록에서 뺐어요: **{ $title }**. 진행 중인 라운드는 계속되고, 30일 안에 되돌릴 수 있어요.
content-button-undo = 되돌리기
content-restored = 되돌렸어요: **{ $title }**

# 내보내기
content-exported = 문제 { $questions }개 가운데 { $written }개가 파일에 들어 있어요.
content-losses = 이 형식이 담지 못하는 내용:

# 해설
content-proposal = 제안된 해설 · { $title }
content-no-proposal = 제안할 내용이 없어요.
content-left = 해설 없음 { $count }개 · { $engine } · 직접 승인하기 전에는 아무것도 보관되지 않아요.
content-writing = 다음 제안을 쓰는 중이에요…
content-explained = { $count ->
    [0] 이제 이 초안의 모든 문제에 해설이 있어요.
   *[other] 마지막 문제였어요. 아직 해설이 없는 문제가 { $count }개 있어요.
}
content-button-use = 사용
content-button-change = 고치기
content-button-skip = 건너뛰기
content-button-go-on = 계속

# 문제가 생겼을 때
content-forbidden = 이 서버를 관리할 수 있는 사람만, 서버 안에서만 할 수 있어요.
content-refused = 사용할 수 없어요. { $problem }
content-unreachable = Discord에서 파일을 받지 못했어요. 다시 보내 주세요.
content-busy = 지금 다른 파일이나 질문을 처리하고 있어요. 잠시 후 다시 시도해 주세요.
content-too-many = 서버 하나에 초안은 { $most }개까지 보관할 수 있어요. 먼저 /콘텐츠 삭제로 하나를 삭제해 주세요.
content-gone = 이제 남아 있지 않아요. /콘텐츠 명령으로 다시 시작해 주세요.
