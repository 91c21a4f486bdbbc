# Тексты Studyhall, русский: банки вопросов, импорт и экспорт. Отчёты о файлах на всех языках английские: в них коды и
# названия форматов.

cmd-content = материалы
    .description = Банки вопросов этого сервера: импорт, экспорт, пояснения (для тех, кто им управляет)
cmd-content-import = импорт
    .description = Прочитать банк вопросов, посмотреть, что в нём, и сохранить как черновик этого сервера
cmd-content-export = экспорт
    .description = Тест файлом для другой программы и список того, что в него не поместится
cmd-content-list = список
    .description = Черновики этого сервера
cmd-content-remove = убрать
    .description = Убрать черновик этого сервера
cmd-content-explain = пояснения
    .description = Предложить пояснения по руководству; о каждом решаете вы
opt-content-file = файл
    .description = GIFT, Moodle XML, QTI, Kahoot, CSV, Anki, Markdown, Aiken и другие, до 8 МБ
opt-content-format = формат
    .description = Что это за файл (по умолчанию видно по содержимому)
opt-content-target = формат
    .description = Для какой программы
opt-content-language = язык
    .description = Какой язык, если формат вмещает только один
opt-content-draft = тест
    .description = Какой черновик
opt-content-guide = руководство
    .description = По какому руководству писать пояснения

# Импорт
content-title = { $file } · { $format }
content-counts = Можно использовать вопросов: **{ $imported } из { $read }**.
content-problems = Пропущено: { $errors } · изменено или требует проверки: { $warnings } · примечаний: { $notes }
content-nothing = Из этого файла ничего нельзя сохранить. Почему, построчно сказано в отчёте.
content-missing = Вопросов без пояснения: { $count }.
content-unasked = Не задаётся в тестах (открытые или не помещаются в форму): { $count }.
content-replaces = «{ $title }» здесь уже есть, версия { $version }. Кнопка **Сохранить черновик** сделает этот файл следующей версией.
content-line = строка { $line }
content-whole = файл
content-more = и ещё { $count }
content-button-keep = Сохранить черновик
content-button-apart = Оставить оба
content-button-discard = Отказаться
content-kept = Сохранено: **{ $title }**, версия { $version }, вопросов: { $questions }. Пройти тест можно командой **/тест начать**, только на этом сервере.
content-kept-missing = Вопросов без пояснения: { $count }. Команда **/материалы пояснения** предложит их по руководству.
content-button-try = Попробовать
content-discarded = Вы отказались, ничего не сохранено.
content-draft-mark = черновик
content-unexplained = Пояснения пока нет.

# Список, удаление
content-list-title = Черновики этого сервера
content-listed = **{ $title }** · версия { $version } · вопросов: { $questions }, без пояснения: { $missing } · { $date }
content-none = Пока ни одного. Добавить можно командой **/материалы импорт**.
content-removed = **{ $title }**: черновик убран из списка. Начатые тесты можно закончить; вернуть его можно в течение 30 дней.
content-button-undo = Вернуть
content-restored = **{ $title }**: черновик снова здесь.

# Экспорт
content-exported = Вопросов в файле: { $written } из { $questions }.
content-losses = Что в него не поместилось:

# Пояснения
content-proposal = Предложенное пояснение · { $title }
content-no-proposal = Предложить нечего.
content-left = Без пояснения: { $count } · { $engine } · Без вашего согласия ничего не сохранится.
content-writing = Следующее предложение пишется…
content-explained = { $count ->
    [0] Теперь пояснение есть у каждого вопроса этого черновика.
   *[other] Это был последний. Вопросов без пояснения: { $count }.
}
content-button-use = Принять
content-button-change = Изменить
content-button-skip = Пропустить
content-button-go-on = Дальше

# Что пошло не так
content-forbidden = Это могут только те, кто управляет сервером, и только на самом сервере.
content-refused = Использовать не получится. { $problem }
content-unreachable = Discord не отдал файл. Отправьте его ещё раз.
content-busy = Сейчас обрабатываются другие файлы или вопросы. Попробуйте ещё раз чуть позже.
content-too-many = На сервере можно хранить не более { $most } черновиков. Сначала уберите один командой **/материалы убрать**.
content-gone = Этого здесь больше нет. Начните заново с **/материалы**.
