# Тексты Studyhall, русский: общие раунды. Имена команд и параметров до 32 символов строчными буквами,
# описания до 100 символов. Подписи на кнопках желательно короче 30 символов.

cmd-live = раунд
    .description = Общие раунды для всего канала, которые ведёт преподаватель
cmd-live-start = открыть
    .description = Открыть общий раунд в этом канале (для преподавателей)
cmd-live-console = пульт
    .description = Ваш личный пульт для раунда в этом канале (для преподавателей)
cmd-live-repair = исправить
    .description = Исправить ключ, засчитать ещё один ответ или снять вопрос; всё будет пересчитано
cmd-live-results = итоги
    .description = Итоги раунда в виде таблицы и файлов (для преподавателей)
cmd-live-time = время
    .description = Дать участнику больше времени, не говоря об этом другим (для преподавателей)
opt-live-seconds = секунды
    .description = Секунд на вопрос; 0: пока не закроете сами; не указано: время на чтение и ещё 20 с
opt-live-scoring = баллы
    .description = Как начисляются баллы
opt-live-teams = команды
    .description = Сколько команд; у команды средний балл её участников
opt-live-anonymous = анонимно
    .description = На табло места и баллы без имён
opt-live-place = место
    .description = Где проходит раунд
opt-live-late = вход_по_ходу
    .description = Можно ли войти, когда раунд уже идёт (по умолчанию да)
opt-live-locked = без_замены
    .description = Засчитывается первый ответ (по умолчанию нет)
opt-live-way = формат
    .description = Как задаются вопросы
opt-live-pace = темп
    .description = Кто переходит к следующему вопросу
opt-live-streaks = серии
    .description = Дополнительные баллы за правильные ответы подряд
opt-live-round = раунд
    .description = Какой раунд (по умолчанию последний в этом канале)
opt-live-number = номер
    .description = Номер вопроса, начиная с 1
opt-live-fix = действие
    .description = Что сделать
opt-live-answer = ответ
    .description = Правильный вариант или текст
opt-live-person = участник
    .description = Кому дать время
opt-live-factor = время
    .description = Сколько времени
choice-live-accuracy = только правильность ответов
choice-live-gentle = мягко: 600 за правильный ответ и до 400 за быстрый
choice-live-classic = классика: чем быстрее, тем больше
choice-live-here = в этом канале
choice-live-thread = в отдельной ветке
choice-live-together = все видят одно и то же
choice-live-peer = взаимное обучение: голосование, обсуждение, второе голосование
choice-live-own = у каждого свой порядок вариантов
choice-live-instructor = преподаватель
choice-live-automatic = таймер
choice-live-key = вот правильный ответ
choice-live-accept = засчитать и этот ответ
choice-live-void = снять вопрос
choice-live-restore = снова засчитывать
choice-live-time-normal = как у всех
choice-live-time-quarter = на четверть больше
choice-live-time-half = в полтора раза больше
choice-live-time-double = вдвое больше
choice-live-time-unlimited = без ограничения

# Сбор участников
live-lobby-title = { $title } · общий раунд
live-lobby-text = Вопросов: { $questions }. Нажмите **Присоединиться**, чтобы занять место; раунд начнёт преподаватель.
live-lobby-here = { $people ->
    [one] Здесь { $people } человек
    [few] Здесь { $people } человека
   *[other] Здесь { $people } человек
}
live-lobby-running = Раунд идёт.
live-lobby-over = Раунд окончен.
live-lobby-rules = { $scoring } · { $answers }
live-rule-accuracy = важны правильные ответы, а не скорость
live-rule-gentle = 600 баллов за правильный ответ и до 400 сверху за быстрый
live-rule-classic = до 1000 баллов, со временем меньше
live-rule-change = до закрытия ответ можно менять
live-rule-locked = засчитывается первый ответ
live-rule-peer = два голосования, между ними обсуждение
live-rule-own = порядок вариантов у каждого свой
live-rule-anonymous = на табло нет имён
live-team = Команда { $number }
live-join = Присоединиться
live-joined = Вы в раунде, ваш номер { $number }. Первый вопрос появится в <#{ $channel }>.
live-joined-team = Вы в раунде, ваша команда: { $team }.
live-joined-already = Вы уже в раунде.
live-not-in = Этот раунд начался без вас, и войти в него уже нельзя.

# Вопрос
live-question-title = { $title } · вопрос { $number } из { $total }
live-second-title = { $title } · вопрос { $number } из { $total } · второе голосование
live-closes = ⏳ Приём ответов закончится { $when }
live-no-limit = Открыто, пока преподаватель не закроет вопрос
live-paused = ⏸ Пауза, осталось { $seconds } с
live-paused-open = ⏸ Пауза
live-outage = Бот был недоступен { $seconds } с. Это время возвращено.
live-closed = ⌛ Время вышло. Считаем ответы…
live-discuss = 💬 Обсудите с соседями. Потом будет второе голосование, и засчитывается именно оно.
live-discuss-until = 💬 Обсудите с соседями. Второе голосование, которое и засчитывается, начнётся { $when }
live-discuss-thread = Обсуждение: вопрос { $number }
live-skipped = ⏭ Этот вопрос пропущен. Он никому не засчитывается.
live-dropped-end = Раунд закончился раньше, чем закрылся этот вопрос. Он никому не засчитывается.
live-footer = Ответили: { $answered } · участников: { $people }
live-own-order = Нажмите **Ответить**: порядок вариантов у вас свой.
live-button-answer = Ответить
live-button-mine = Мой ответ
live-button-lost = Не понимаю
live-button-why = Почему?
live-button-place = Моё место
live-button-results = Мои результаты
live-lost-noted = Отмечено. Преподаватель видит, сколько человек не понимает, но не видит, кто именно.
live-sheet-none = Вы ещё не ответили.
live-sheet-mine = Ваш ответ: **{ $answer }**
live-sheet-over = Время на этот вопрос вышло.
live-sheet-until = Ваше личное время закончится { $when }
live-sheet-unlimited = Время у вас не ограничено.

# Подтверждения, которые видит один человек
live-receipt-recorded = ✔ Записано: **{ $answer }**. До закрытия ответ можно изменить.
live-receipt-recorded-locked = ✔ Записано: **{ $answer }**. Изменить ответ нельзя.
live-receipt-changed = ✔ Теперь ваш ответ: **{ $answer }**.
live-receipt-same = ✔ Это уже ваш ответ: **{ $answer }**.
live-receipt-kept = Остаётся ваш первый ответ: **{ $answer }**.
live-receipt-overtaken = ✔ Засчитан ваш более поздний ответ: **{ $answer }**.
live-refused-not_started = Раунд ещё не начался.
live-refused-late = Поздно: вопрос закрылся раньше, чем вы нажали. Ничего не записано.
live-refused-paused = Раунд на паузе. Нажмите ещё раз, когда он продолжится.
live-refused-earlier_question = Эта кнопка относится к одному из прошлых вопросов. Откройте последнее сообщение.
live-refused-revealed = Ответ уже показан. Ничего не записано.
live-refused-over = Этот раунд окончен.
live-refused-not_in = Этот раунд начался без вас, и войти в него уже нельзя.

# Показ ответа
live-reveal-title = Ответ · вопрос { $number } из { $total }
live-reveal-key = Правильный ответ
live-reveal-why = Почему
live-reveal-others = Почему не остальные
live-reveal-voided = 🔧 Этот вопрос снят: он никому не засчитывается.
live-reveal-share = Правильно ответили { $right } из { $answered }
live-reveal-nobody = Никто не ответил.
live-reveal-shift = Первое голосование: правильно { $before } из { $answered_before }, второе: { $right } из { $answered }
live-chart-intro = Ответили: { $answered }
live-chart-right = правильный ответ
live-repaired = 🔧 Исправлено
live-repaired-key = Правильный ответ теперь { $answer }
live-repaired-accept = Засчитывается и ответ { $answer }
live-repaired-void = Вопрос никому не засчитывается
live-repaired-restore = Вопрос снова засчитывается
live-repaired-moved = { $people ->
    [0] Баллы ни у кого не изменились
    [one] Баллы изменились у { $people } человека
   *[other] Баллы изменились у { $people } человек
}
live-repaired-note = 🔧 Вопрос { $number } исправлен: { $what }. { $moved }; все баллы и места пересчитаны.
live-board = Табло
live-board-teams = Команды
live-board-empty = Баллов пока ни у кого нет.
live-board-line = { $place } **{ $name }** · { $points }
live-board-more = и ещё { $people }; своё место вы увидите по кнопке **Моё место**
live-podium-title = 🏁 { $title } · финал
live-podium-text = Участников: { $people }, вопросов: { $questions }, наибольший балл: { $possible }.
live-podium-nobody = Никто не участвовал.
live-place = Ваше место: **{ $place }** из { $people }, баллы: **{ $points }** из { $possible }.
live-place-none = У вас пока ничего не засчитано.
live-place-team = Команда { $team }: место { $place }, в среднем баллов: { $points }.
live-mine-title = Ваши результаты · { $title }
live-mine-line = { $mark } { $number }. { $stem } · { $points }
live-mine-none = нет ответа
live-mine-dm = Прислать мне
live-mine-sent = Отправлено. Загляните в личные сообщения.
live-mine-refused = Discord не даёт мне вам написать. Разрешите личные сообщения с этого сервера и нажмите ещё раз.
live-mine-keep = Сохранить мои ошибки
live-mine-kept = Сохранено: ваши ошибки в этом и следующих общих раундах будут доступны для повторения. Нажмите ещё раз, чтобы отменить.
live-mine-dropped = Ошибки из общих раундов больше не сохраняются.

# Пульт, который видит преподаватель
live-console-title = Пульт · { $title }
live-console-private = Это видите только вы.
live-console-lobby = Сбор участников. Уже здесь: { $people }.
live-console-asking = Вопрос { $number } из { $total }: открыт
live-console-closed = Вопрос { $number } из { $total }: закрыт, правильный ответ ещё не показан
live-console-discussing = Вопрос { $number } из { $total }: обсуждение перед вторым голосованием
live-console-revealed = Вопрос { $number } из { $total }: ответ показан
live-console-ended = Раунд окончен. Таблицы и файлы: `/раунд итоги`.
live-console-answered = Ответили { $answered } из { $people }
live-console-lost = не понимают: { $people }
live-console-waiting = Ещё не ответили участники с дополнительным временем: { $people }; их срок истечёт { $when }
live-console-waiting-open = Ещё не ответили участники без ограничения времени: { $people }
live-console-split = Ответы на данный момент
live-console-stale = Раунд уже ушёл дальше; вот что в нём происходит сейчас.
live-console-none = В этом канале нет раунда. Откройте его командой /раунд открыть.
live-console-old = Этот пульт устарел и больше не обновляется сам. Нажмите любую кнопку или откройте новый командой /раунд пульт.
live-do-start = Начать
live-do-close = Закрыть сейчас
live-do-reveal = Показать ответ
live-do-discuss = Обсудить
live-do-vote = Второе голосование
live-do-next = Следующий вопрос
live-do-podium = Финал: показать итоги
live-do-pause = Пауза
live-do-resume = Продолжить
live-do-extend = +15 с
live-do-skip = Пропустить вопрос
live-do-board = Табло ещё раз
live-do-show = Показать табло
live-do-hide = Скрыть табло
live-do-end = Завершить раунд
live-do-refresh = Обновить

# Команды
live-opened = Раунд открыт в <#{ $channel }>. Это ваш личный пульт.
live-error-running = В этом канале уже идёт раунд. Сначала завершите его или проведите новый в ветке (место: в отдельной ветке).
live-error-place = Для общего раунда нужен текстовый канал сервера.
live-error-thread = Мне нельзя создать здесь ветку. Дайте мне право создавать публичные ветки или выберите этот канал.
live-error-send = Мне нельзя писать в этом канале. Дайте мне права просматривать его, отправлять сообщения, встраивать ссылки и прикреплять файлы.
live-error-role = Это могут делать только преподаватели: у кого есть роль «{ $role }» или право управлять сервером.
live-error-role-unset = Это могут делать только преподаватели: все, у кого есть право управлять сервером.
live-error-unasked = Этого вопроса в раунде ещё не было.
live-repair-done = Вопрос { $number }: { $what }. { $moved }
live-repair-line = { $name }: баллы { $before } → { $after }, место { $place_before } → { $place_after }
live-time-done = Время участника { $name } в общих раундах теперь: { $time }. Никто другой этого не видит.
live-results-title = Итоги · { $title }
live-results-text = Участников: { $people }, засчитанных вопросов: { $questions }, средний балл: { $mean } из { $possible }. Подробности в файлах.
live-results-question = { $number }. { $stem }
live-results-figures = правильно { $right } из { $answered } · трудность { $difficulty } · различающая способность { $discrimination }
live-results-suspected = ⚠ возможно, неверный ключ: сильные выбирали «{ $option }»
live-results-dead = никого не убедили: { $options }
live-results-lost = не понимали: { $people }
live-results-none = Общих раундов здесь ещё не было.
