# Тексты Studyhall, русский: вопросы для собеседования. Чего здесь нет, показывается по-английски.
# Сначала тексты слэш-команд: имена до 32 символов строчными буквами, описания до 100 символов.

cmd-interview = собеседование
    .description = Открытые вопросы с собеседований: уточнения, образец ответа и самопроверка
opt-interview-part = часть
    .description = Какая часть сборника (по умолчанию все)

interview-title = { $title } · вопрос { $number } из { $total }
interview-probe = Уточняющий вопрос { $number } из { $total }
interview-footer = Сложность { $stars } · максимум баллов: { $points }
interview-yours = Ваш ответ
interview-length = Символов: от { $least } до { $most }. Ответ видите только вы, он нигде не хранится.
interview-check = Самопроверка. Баллы: { $points } из { $possible }
interview-check-note = Отметьте, что есть в вашем ответе. Оценок никто не ставит, ничего не сохраняется.
interview-tick = Отметьте, что есть в вашем ответе
interview-points = { $points ->
    [one] { $points } балл
    [few] { $points } балла
    [many] { $points } баллов
   *[other] { $points } балла
}
interview-reference = Образец ответа
interview-rubric = **Что важно в ответе** · всего баллов: { $points }
interview-page = Страница { $number } из { $total }
interview-no-reference = Для этого вопроса образца ответа пока нет.
interview-none = Вопросов для собеседования здесь пока нет.
button-interview-write = Написать ответ
button-interview-again = Написать заново
button-interview-probe = Уточняющий вопрос
button-interview-reference = Показать образец
help-interview = **/собеседование** (/interview) – открытые вопросы: напишите ответ, получите уточняющие вопросы и сравните с образцом.
